import * as nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Without `import`, for which Node would load its streams with it.
const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
/** Node has it from 22.8 on. */
const { enableCompileCache } = nodeModule as {
  readonly enableCompileCache?: (folder: string) => unknown;
};

/**
 * Has Node keep the compiled code for the next start, where it can: in a folder of the user's own among the
 * temporary files, unless the user has decided it for Node. Whoever can write there decides what is run, so a
 * folder of anybody else, or open to others, is not used. Without the folder only the gain is lost.
 */
export function keepCompiledCode(): void {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const isDecided = NODE_COMPILE_CACHE !== undefined || NODE_DISABLE_COMPILE_CACHE === '1';
  if (!enableCompileCache || isDecided) return;
  const uid = process.geteuid?.();
  const folder = join(tmpdir(), uid === undefined ? 'sluice-compiled' : `sluice-compiled-${uid}`);
  try {
    const there = lstatSync(folder, { throwIfNoEntry: false });
    if (!there) mkdirSync(folder, { mode: 0o700 });
    const stats = there ?? lstatSync(folder);
    const isOwn = uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
    if (stats.isDirectory() && isOwn) enableCompileCache(folder);
  } catch {
    // A disk that is full or may not be written.
  }
}
