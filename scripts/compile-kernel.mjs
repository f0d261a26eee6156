// `npm run kernel`: compiles the kernels, in WebAssembly, into the data files that the build inlines.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import loadWabt from 'wabt';
import { projectRoot } from './project.mjs';

/** The sources without their extension: `<kernel>.wat` becomes `<kernel>.wasm.txt`. */
export const kernels = ['src/lists/csv/find-stops', 'src/engine/results/json/read-members'];

export function kernelPath(kernel) {
  return join(projectRoot, `${kernel}.wasm.txt`);
}

/** A kernel as the text of its data file: base64 in lines. */
export async function compileKernel(kernel) {
  const source = `${kernel}.wat`;
  const wabt = await loadWabt();
  const parsed = wabt.parseWat(source, readFileSync(join(projectRoot, source), 'utf8'), {
    simd: true,
  });
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString('base64');
  return base64.replaceAll(/.{1,76}/g, '$&\n');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const kernel of kernels) writeFileSync(kernelPath(kernel), await compileKernel(kernel));
}
