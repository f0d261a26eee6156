import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { buildIfStale } from '../build/dist.mjs';
import { projectRoot, mustRun } from '../project.mjs';

/** Makes the tarball that would be published, and puts it into `folder`. */
async function packTarball(folder) {
  await buildIfStale();
  // Without scripts: `prepack` would only build once more.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await mustRun('npm', args);
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}

/**
 * Installs the tarball, and nothing else, in an empty folder outside the project, as its users do.
 * The folder is handed to `use` and removed afterwards.
 */
export async function withInstalledPackage(use) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-installed-'));
  try {
    const tarball = await packTarball(folder);
    const args = ['install', '--no-audit', '--no-fund', tarball];
    const { stderr } = await mustRun('npm', args, { cwd: folder });
    // Warnings about this machine's own settings are none about the package.
    const warnings = stderr
      .split('\n')
      .filter((line) => /warn/i.test(line) && !/config/i.test(line));
    if (warnings.length > 0) throw new Error(`npm install warns:\n${warnings.join('\n')}`);
    return await use(folder, tarball);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the README's main job with the package installed in `folder`, on the Node binary `node` or by
 * the words of `command`, and throws unless every input row came out once, in its order and to the letter, with its results.
 *
 * @returns how many rows went through
 */
export async function runMainJob(
  folder,
  { node = process.execPath, command = ['npx', '--no-install', 'sluice'] } = {},
) {
  const input = join(projectRoot, 'examples', 'contacts.csv');
  const output = join(folder, 'verified.csv');
  const columns = ['--email', 'email', '--phone', 'mobile', '--country-column', 'country'];
  const [program, ...words] = command;
  const args = [...words, 'verify', input, ...columns, '--country', 'US', '-o', output];
  await mustRun(program, args, { cwd: folder, env: environmentOf(node) });
  const rows = compare(await readCsv(input), await readCsv(output));
  await rm(output);
  return rows;
}

/** An environment in which `node`, and all that it starts, is that binary, and the service is local. */
export function environmentOf(node) {
  const { SLUICE_BASE_URL: _url, SLUICE_API_KEY: _key, ...rest } = process.env;
  return { ...rest, PATH: `${dirname(node)}${delimiter}${rest.PATH}` };
}

function compare([header, ...rows], [outHeader, ...outRows]) {
  if (rows.length === 0) throw new Error('the input has no rows');
  if (rows.length !== outRows.length) {
    throw new Error(`${rows.length} rows went in, ${outRows.length} came out`);
  }
  const added = outHeader.slice(header.length);
  const verdicts = ['email_verification', 'mobile_verification'].map((name) => {
    if (!added.includes(name)) throw new Error(`the output has no column ${name}`);
    return outHeader.indexOf(name);
  });
  for (const [at, row] of [header, ...rows].entries()) {
    const out = at === 0 ? outHeader : outRows[at - 1];
    const differs = row.findIndex((cell, column) => cell !== out[column]);
    if (differs !== -1) throw new Error(`row ${at}: ${row[differs]} became ${out[differs]}`);
  }
  for (const column of verdicts) {
    const values = new Set(outRows.map((row) => row[column]));
    if (!values.has('verified')) throw new Error(`${outHeader[column]} is never verified`);
    if (values.has('failed')) throw new Error(`${outHeader[column]} says failed`);
  }
  return rows.length;
}

async function readCsv(file) {
  return parse(await readFile(file), { bom: true });
}
