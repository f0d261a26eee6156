import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { expect } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';

/** Holds a page against its lines, formatted as `npm run format` does; `npm run pages` writes it. */
export async function expectPage(path: string, lines: readonly string[]): Promise<void> {
  const options = JSON.parse(
    await readFile(join(projectRoot, '.oxfmtrc.json'), 'utf8'),
  ) as Parameters<typeof format>[2];
  const { code, errors } = await format(path, lines.join('\n'), options);
  expect(errors).toEqual([]);
  await expect(withoutPadding(code)).toMatchFileSnapshot(join(projectRoot, path));
}

/** Cells of tables end where their text does: padded, they were a fifth of the pages' bytes in the package. */
function withoutPadding(page: string): string {
  return page.replaceAll(/^\|.*$/gm, (line) =>
    line.replaceAll(/ +\|/g, ' |').replaceAll(/-{4,}/g, '---'),
  );
}
