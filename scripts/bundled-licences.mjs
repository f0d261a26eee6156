import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './project.mjs';

/**
 * The licences of the packages that are in a bundle, as they ask for: with every copy.
 *
 * @param inputs the files that were bundled, from the project's root
 * @throws Error naming a package without a text to give along
 */
export async function bundledLicences(inputs) {
  const folders = inputs.flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const texts = [...new Set(folders)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(async (folder) => {
      const { name, version } = JSON.parse(
        await readFile(join(projectRoot, folder, 'package.json')),
      );
      const names = await readdir(join(projectRoot, folder));
      const file = names.find((found) => /^licen[cs]e(?:\.|$)/i.test(found));
      if (file === undefined) throw new Error(`${name} has no licence to give along`);
      const text = await readFile(join(projectRoot, folder, file), 'utf8');
      return `${name} ${version}\n\n${text.trim()}\n`;
    });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}
