// `npm run api` fails where the API reports differ from what is committed, so that a change of the public face is
// always seen in a review; `npm run api -- --update` writes them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { buildIfStale } from './build/dist.mjs';
import { projectRoot, runScript } from './project.mjs';

const localBuild = process.argv.includes('--update');

await runScript(async () => {
  await buildIfStale();
  const faces = (await configs()).map((path) => ExtractorConfig.loadFileAndPrepare(path));
  // One program for all: they share nearly all of their declarations.
  const additionalEntryPoints = faces.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
  const compilerState = CompilerState.create(faces[0], { additionalEntryPoints });
  for (const face of faces) {
    const { succeeded } = Extractor.invoke(face, { localBuild, compilerState });
    if (!succeeded) throw new Error('If the change is meant: npm run api -- --update');
  }
});

/** One for each face of the package. */
async function configs() {
  const folder = join(projectRoot, 'api');
  const names = await readdir(folder);
  return names.filter((name) => name.startsWith('extractor')).map((name) => join(folder, name));
}
