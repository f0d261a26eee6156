import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { projectRoot, readProjectJson } from '../../../scripts/project.mjs';
import { withFolder } from '../../service/with-service.js';

const job = `
  import { Client, run, rowsSink, version } from 'sluice';
  import { instrument } from 'sluice/opentelemetry';
  import { createService } from 'sluice/service';

  async function main() {
    const service = await createService();
    const client = new Client(service);
    const verified = [];
    await run({
      source: [{ mobile: '0151 23456789' }],
      sink: rowsSink((rows) => void verified.push(...rows)),
      stateDir: 'state',
      client,
      phone: ['mobile'],
      country: 'DE',
      columns: ['verification'],
      pollIntervalMs: 1,
    });
    await client.close();
    await service.close();
    let instrumented;
    try { instrument(); } catch (error) { instrumented = error.code; }
    console.log(JSON.stringify({ version, verified, instrumented }));
  }
  void main();
`;

/** As docs/in-code.md says. */
const banner =
  "import { createRequire as from } from 'node:module'; const require = from(import.meta.url);";

it.each([
  { format: 'esm', outfile: 'job.mjs', banner: { js: banner }, external: [] },
  { format: 'cjs', outfile: 'job.cjs', external: ['undici'] },
] as const)('the library works in a bundle beside $external: $format', async (bundle) => {
  const { external, ...form } = bundle;
  const folder = await withFolder();
  const outfile = join(folder, form.outfile);
  await mkdir(join(folder, 'node_modules'));
  for (const name of external) {
    await symlink(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await build({
    ...form,
    outfile,
    stdin: { contents: job, resolveDir: projectRoot },
    // The package's own name means what was built, not the sources.
    tsconfigRaw: {},
    bundle: true,
    external: [...external],
    platform: 'node',
    logLevel: 'error',
  });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile], {
    cwd: folder,
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    version: ((await readProjectJson('package.json')) as { readonly version: string }).version,
    verified: [{ mobile: '0151 23456789', mobile_verification: 'verified' }],
    instrumented: 'missing_dependency',
  });
});
