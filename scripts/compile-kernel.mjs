// `npm run kernel`: compiles the kernels, in WebAssembly, into the modules that embed them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import loadWabt from 'wabt';
import { projectRoot } from './project.mjs';

const lineLength = 90;
/** The sources without their extension: `<kernel>.wat` becomes `<kernel>-kernel.ts`. */
export const kernels = ['src/lists/csv/find-stops', 'src/engine/results/json/read-members'];

export function kernelPath(kernel) {
  return join(projectRoot, `${kernel}-kernel.ts`);
}

/** The text of the module that embeds a kernel. */
export async function compileKernel(kernel) {
  const source = `${kernel}.wat`;
  const name = source.slice(source.lastIndexOf('/') + 1);
  const wabt = await loadWabt();
  const parsed = wabt.parseWat(name, readFileSync(join(projectRoot, source), 'utf8'), {
    simd: true,
  });
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'g'));
  const constant = name
    .replace('.wat', '-kernel')
    .replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase());
  return `/** What \`npm run kernel\` makes of ${name}: a WebAssembly module in base64. */
export const ${constant} =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const kernel of kernels) writeFileSync(kernelPath(kernel), await compileKernel(kernel));
}
