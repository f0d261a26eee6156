import type { FilePermissions } from '../../../platform/files/file-permissions.js';
import { isMoreOpen } from './no-more-open.js';
import { checkOutputPath } from './output-path.js';

/**
 * Which files of a run keep permissions under which others may read what they may not in another file: one
 * that is there already keeps its own.
 *
 * @example
 * ```ts
 * const permissions = await fileSource('contacts.csv').permissions?.();
 * if (permissions) console.log(await moreOpenFiles(['verified.csv'], permissions)); // []
 * ```
 */
export async function moreOpenFiles(
  paths: readonly string[],
  than: FilePermissions,
): Promise<readonly string[]> {
  const open: string[] = [];
  for (const path of paths) {
    // What is wrong with a path, its own check says.
    const target = await checkOutputPath(path).catch(() => undefined);
    if (target?.existing && isMoreOpen(target.existing, than)) open.push(path);
  }
  return open;
}
