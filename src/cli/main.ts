#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { errorText } from './messages/describe-error.js';
import { endWith, start, asksVersion, printVersion } from './process/start.js';
import { printLines } from './terminal/print.js';
import type { CommandLine } from './run-command-line.js';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Through getBuiltinModule(): `import` would load Node's streams, too.
const { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } =
  process.getBuiltinModule('node:fs');

// A signal while the command is loaded waits for its own listener: it ends like any other, with a summary.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

/** After more work than this, in µs of processor time, V8 has dropped code that only the start needed. */
const mostWork = 5_000_000;
const digestBytes = 32;

if (asksVersion(process.argv.slice(2))) {
  // `--version` does not wait for the rest.
  const failed = (error: unknown): void => {
    printLines(`sluice: ${errorText(error)}\n`, process.stderr);
  };
  await start(({ stdout }) => ({
    work: async () => endWith(async () => printVersion(stdout), failed),
    failed,
  }));
} else {
  const { exports, keep } = loadScript(fileURLToPath(new URL('command.cjs', import.meta.url)));
  await (exports as CommandLine).startCommandLine(keep);
}

interface CompiledScript {
  readonly exports: unknown;
  /** Saves the compiled code for the next start, where possible. */
  readonly keep: () => void;
}

/**
 * Loads an ASCII CommonJS module with the compiled code of an earlier start: compiling takes a third of a
 * short run. V8 trusts its input, so the code is kept in a private folder and used only if it is complete and
 * belongs to this text. Without the folder only the gain is lost.
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
  // With Node 20, cached code cannot import by itself.
  const importModule = async (wanted: string): Promise<unknown> => import(wanted);
  run(loaded, loaded.exports, createRequire(path), path, importModule);
  return {
    exports: loaded.exports,
    keep() {
      const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
      const { user, system } = process.cpuUsage();
      if (file === undefined || isKept || user + system > mostWork) return;
      // Compiled under other V8 options than those of the start: the next start could not use it.
      if (cachedDataVersionTag() !== tag) return;
      try {
        const code = script.createCachedData();
        rmSync(file, { force: true });
        const whole = Buffer.concat([digestOf(source, code), code]);
        writeFileSync(file, whole, { mode: 0o600, flag: 'wx' });
      } catch {
        // A full disk, or another process that saves the same.
      }
    },
  };
}

/** The saved code, if it is complete and belongs to this text: V8 itself checks little more than lengths. */
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

/** Identifies a build of Node: V8 distinguishes its own releases only, and foreign code would crash the process. */
function thisNode(): string {
  const { version, arch, execPath } = process;
  const { size, mtimeMs } = statSync(execPath, { throwIfNoEntry: false }) ?? {};
  return [version, arch, execPath, size, mtimeMs].join();
}

/**
 * A folder among the temporary files, or where NODE_COMPILE_CACHE says. Anyone who can write to it decides
 * what runs: one of another user, or open to others, is not used.
 */
function cacheFolder(): string | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const isNode = !('bun' in process.versions || 'deno' in process.versions);
  if (!isNode || NODE_DISABLE_COMPILE_CACHE === '1') return undefined;
  const uid = process.geteuid?.();
  const usual = uid === undefined ? 'sluice-compiled' : `sluice-compiled-${uid}`;
  const folder = NODE_COMPILE_CACHE ?? join(tmpdir(), usual);
  try {
    const existing = lstatSync(folder, { throwIfNoEntry: false });
    if (!existing) mkdirSync(folder, { mode: 0o700 });
    const stats = existing ?? lstatSync(folder);
    const isPrivate = uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
    return stats.isDirectory() && isPrivate ? folder : undefined;
  } catch {
    // A full or read-only disk.
    return undefined;
  }
}
