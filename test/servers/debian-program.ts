import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The path of a program that a suite works with.
 *
 * @param program a path, or a name that is looked for in PATH
 * @throws Error that names the package of Debian that has it, where it is not there
 */
export function debianProgram(program: string, debianPackage: string): string {
  const folders = program.startsWith('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, program)).find((each) => existsSync(each));
  if (path !== undefined) return path;
  throw new Error(`${program} is not there: these tests need Debian's package ${debianPackage}`);
}
