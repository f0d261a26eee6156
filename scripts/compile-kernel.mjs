// `npm run kernel`: compiles src/formats/find-stops.wat into the module that embeds it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import loadWabt from 'wabt';
import { projectRoot } from './project.mjs';

const lineLength = 90;
export const kernelPath = join(projectRoot, 'src/formats/find-stops-kernel.ts');

/** The text of the module that embeds the kernel. */
export async function compileKernel() {
  const source = join(projectRoot, 'src/formats/find-stops.wat');
  const wabt = await loadWabt();
  const parsed = wabt.parseWat(source, readFileSync(source, 'utf8'), { simd: true });
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'g'));
  return `/** What \`npm run kernel\` makes of find-stops.wat: a WebAssembly module in base64. */
export const findStopsKernel =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(kernelPath, await compileKernel());
}
