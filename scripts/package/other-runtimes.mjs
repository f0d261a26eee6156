import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPackage } from './cached-package.mjs';
import { runMainJob } from './packed-package.mjs';
import { projectRoot } from '../project.mjs';
import { mustRun } from '../run-tool.mjs';

const { arch, platform } = process;

/** What runs the command beside Node: the package that holds its program, and how that is called. */
const runtimes = [
  {
    name: 'Bun 1.4.5',
    spec: `@oven/bun-${platform}-${arch}@1.4.5`,
    path: ['bin', 'bun'],
    args: [],
  },
  { name: 'Deno 2.9.6', spec: denoPackage(), path: ['deno'], args: ['run', '-A'] },
];

function denoPackage() {
  return `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2.9.6`;
}

/** Examples of the library, and the last line that each prints. */
const examples = {
  'async-iteration.ts': '3 not_submitted empty',
  'web-server.ts': '{"verification":"not_submitted","reason":"contains_comma","valid":null}',
};

/**
 * Runs the main job and examples with the package installed in `folder` on runtimes that are not Node.
 *
 * @returns one line for each
 */
export async function runElsewhere(folder) {
  const lines = [];
  for (const { name, spec, path, args } of runtimes) {
    const home = await cachedPackage(name.replace(' ', '-').toLowerCase(), spec);
    const program = join(home, ...path);
    const command = [program, ...args, join(folder, 'node_modules/sluice/dist/cli/main.js')];
    const rows = await runMainJob(folder, { command });
    for (const [example, last] of Object.entries(examples)) {
      await copyFile(join(projectRoot, 'examples', example), join(folder, example));
      const { stdout } = await mustRun(program, [...args, example], { cwd: folder });
      if (!stdout.endsWith(`${last}\n`)) throw new Error(`${name}: ${example} printed ${stdout}`);
    }
    lines.push(`${name}: main job of ${rows} rows, ${Object.keys(examples).length} examples`);
  }
  return [...lines, await runJest(folder)];
}

/** Jest has modules of its own, in which a package that is an ES module has to be imported. */
async function runJest(folder) {
  const spec = 'jest@30.5.2';
  const home = await cachedPackage(spec.replace('@', '-'), spec);
  await copyFile(
    join(projectRoot, 'examples', 'testing', 'jest.test.cjs'),
    join(folder, 'jest.test.cjs'),
  );
  const args = [
    join(home, 'bin', 'jest.js'),
    '--rootDir',
    folder,
    '--testMatch',
    '**/jest.test.cjs',
  ];
  const node = [process.execPath, ['--experimental-vm-modules', ...args]];
  await mustRun(...node, { cwd: folder });
  return `${spec}: its example passes`;
}
