// `npm run api` writes the API reports anew; `npm run check:api` fails where they differ from what is
// committed, so that a change of the public face is always seen in a review.
import { join } from 'node:path';
import { buildIfStale } from './dist.mjs';
import { projectRoot } from './project.mjs';
import { runScript, runTool } from './run-tool.mjs';

const extractor = join(projectRoot, 'node_modules', '@microsoft', 'api-extractor', 'bin');
const isUpdate = process.argv.includes('--update');

await runScript(async () => {
  await buildIfStale();
  for (const config of ['api/extractor.json', 'api/extractor-service.json']) {
    const args = [join(extractor, 'api-extractor'), 'run', '--config', config];
    const { code, stdout, stderr } = await runTool(
      process.execPath,
      isUpdate ? [...args, '--local'] : args,
    );
    if (code !== 0) throw new Error(`${stdout}${stderr}\nIf the change is meant: npm run api`);
  }
});
