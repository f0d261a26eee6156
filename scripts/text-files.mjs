import { readFile } from 'node:fs/promises';

/** For Vitest: a data file (`.txt`, `.sql`) is imported as text, as the bundler does of itself. */
export function textFiles() {
  return {
    name: 'text-files',
    enforce: 'pre',
    async load(id) {
      return /\.(?:txt|sql)$/.test(id)
        ? `export default ${JSON.stringify(await readFile(id, 'utf8'))};`
        : null;
    },
  };
}
