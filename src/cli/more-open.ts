import type { FilePermissions } from '../index.js';
import { isMoreOpen } from '../output-files/no-more-open.js';
import { checkOutputPath } from '../output-files/output-path.js';
import type { Reporter } from './reporter.js';
import { standard } from './summary-file.js';

/** Says which files of a run keep permissions under which others may read what they may not in the input. */
export async function tellMoreOpen(
  paths: readonly (string | undefined)[],
  {
    permissions,
    reporter,
  }: { readonly permissions: FilePermissions | undefined; readonly reporter: Reporter },
): Promise<void> {
  if (!permissions) return;
  const open: string[] = [];
  for (const path of paths) {
    if (path === undefined || path === standard) continue;
    // What is wrong with a path, its own check says.
    const target = await checkOutputPath(path).catch(() => undefined);
    if (target?.existing && isMoreOpen(target.existing, permissions)) open.push(path);
  }
  if (open.length > 0) reporter.keptOpen(open);
}
