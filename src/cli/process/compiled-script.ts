import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Modules of Node come by getBuiltinModule() here: for `import`, Node would load its streams with them.
const { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } =
  process.getBuiltinModule('node:fs');

/** After more work than this, in µs of processor time, V8 has thrown away code that only the start needed. */
const mostWork = 5_000_000;
const digestBytes = 32;

interface CompiledScript {
  readonly exports: unknown;
  /** Keeps the code that was compiled until now for the next start, where it can. */
  readonly keep: () => void;
}

/**
 * Loads a module in CommonJS that is written in ASCII, with the code that an earlier start has kept: to
 * compile it takes a third of a short run. V8 believes what it is given, so the code is kept in a folder of
 * the user's own, and used only where it is whole and was made of this very text. Without the folder only
 * the gain is lost.
 */
export function loadScript(path: string): CompiledScript {
  const { Script } = process.getBuiltinModule('node:vm');
  const { cachedDataVersionTag } = process.getBuiltinModule('node:v8');
  const source = readFileSync(path);
  const folder = cacheFolder();
  const tag = cachedDataVersionTag();
  const name = `${tag.toString(16)}-${digestOf(path, thisNode()).toString('hex', 0, 8)}`;
  const file = folder === undefined ? undefined : join(folder, name);
  const cachedData = file === undefined ? undefined : readKept(file, source);
  const script = new Script(
    `(function (module, exports, require, __filename, importModule) {${source.toString('latin1')}\n})`,
    { filename: path, ...(cachedData && { cachedData }) },
  );
  const loaded: { exports: unknown } = { exports: {} };
  const run = script.runInThisContext() as (...given: readonly unknown[]) => void;
  // Code that was kept cannot import by itself with Node 20.
  const importModule = async (wanted: string): Promise<unknown> => import(wanted);
  run(loaded, loaded.exports, createRequire(path), path, importModule);
  return {
    exports: loaded.exports,
    keep() {
      const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
      const { user, system } = process.cpuUsage();
      if (file === undefined || isKept || user + system > mostWork) return;
      // Made under other options of V8 than those at the start, the next start could not use it.
      if (cachedDataVersionTag() !== tag) return;
      try {
        const code = script.createCachedData();
        rmSync(file, { force: true });
        const whole = Buffer.concat([digestOf(source, code), code]);
        writeFileSync(file, whole, { mode: 0o600, flag: 'wx' });
      } catch {
        // A disk that is full, or another process that keeps the same.
      }
    },
  };
}

/** What was kept, if it is whole and made of this text: V8 looks at little more than lengths. */
function readKept(file: string, source: Uint8Array): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const code = kept.subarray(digestBytes);
    return digestOf(source, code).equals(kept.subarray(0, digestBytes)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * What identifies a build of Node. V8 distinguishes its own releases, not those of Node, which may
 * change its code between two of them: code of the other then ends the process.
 */
function thisNode(): string {
  const { version, arch, execPath } = process;
  const { size, mtimeMs } = statSync(execPath, { throwIfNoEntry: false }) ?? {};
  return [version, arch, execPath, size, mtimeMs].join();
}

/**
 * A folder of the user's own, among the temporary files unless the user has decided it for Node. Anyone
 * who can write there decides what is run, so a folder of anybody else, or open to others, is not used.
 */
function cacheFolder(): string | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const isNode = !('bun' in process.versions || 'deno' in process.versions);
  if (!isNode || NODE_DISABLE_COMPILE_CACHE === '1') return undefined;
  const uid = process.geteuid?.();
  const usual = uid === undefined ? 'sluice-compiled' : `sluice-compiled-${uid}`;
  const folder = NODE_COMPILE_CACHE ?? join(tmpdir(), usual);
  try {
    const there = lstatSync(folder, { throwIfNoEntry: false });
    if (!there) mkdirSync(folder, { mode: 0o700 });
    const stats = there ?? lstatSync(folder);
    const isOwn = uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
    return stats.isDirectory() && isOwn ? folder : undefined;
  } catch {
    // A disk that is full or may not be written.
    return undefined;
  }
}
