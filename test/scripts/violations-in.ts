import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withFolder } from '../service/with-service.js';

/** What a rule says of sources that are these files alone, given as text by path. */
export async function violationsIn(
  rule: (source: string) => Promise<string[]>,
  files: Readonly<Record<string, string>>,
): Promise<string[]> {
  const source = await withFolder();
  for (const [file, text] of Object.entries(files)) {
    const path = join(source, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return rule(source);
}
