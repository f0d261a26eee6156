// `npm run api` writes the API reports anew; `npm run check:api` fails where they differ from what is
// committed, so that a change of the public face is always seen in a review.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildIfStale } from './dist.mjs';
import { projectRoot } from './project.mjs';
import { runScript, runTool } from './run-tool.mjs';

const extractor = join(projectRoot, 'node_modules', '@microsoft', 'api-extractor', 'bin');
const isUpdate = process.argv.includes('--update');

await runScript(async () => {
  await buildIfStale();
  for (const config of await configs()) {
    const args = [join(extractor, 'api-extractor'), 'run', '--config', join('api', config)];
    const { code, stdout, stderr } = await runTool(
      process.execPath,
      isUpdate ? [...args, '--local'] : args,
    );
    if (code !== 0) throw new Error(`${stdout}${stderr}\nIf the change is meant: npm run api`);
  }
});

/** One for each face of the package. */
async function configs() {
  const names = await readdir(join(projectRoot, 'api'));
  return names.filter((name) => name.startsWith('extractor'));
}
