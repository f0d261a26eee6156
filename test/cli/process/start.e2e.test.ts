import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';
import { runSluice } from '../harness/run-sluice.js';
import { withFolder } from '../../service/with-service.js';

/**
 * Runs before the command, and writes down at its end which modules of Node it has loaded. V8 says on
 * standard output what it compiles of WebAssembly.
 */
const reporter = `
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
setFlagsFromString('--trace-wasm-compilation-times');
const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const modules = process.moduleLoadList.filter((name) => !before.has(name));
  writeFileSync(process.env.LOADED, JSON.stringify(modules));
});
`;

const main = join(projectRoot, 'dist', 'cli', 'main.js');

interface Loaded {
  readonly stdout: string;
  /** Paths of what is not Node's own. */
  readonly scripts: readonly string[];
  /** Names of Node's own modules. */
  readonly modules: readonly string[];
}

/** Runs the command, and gives what it has loaded. */
async function loadedBy(folder: string, ...args: readonly string[]): Promise<Loaded> {
  const [preload, report] = [join(folder, 'reporter.mjs'), join(folder, 'loaded.json')];
  const coverage = join(folder, 'coverage');
  await writeFile(preload, reporter);
  const { code, stdout, stderr } = await runSluice(args, {
    cwd: folder,
    env: {
      LOADED: report,
      NODE_OPTIONS: `--import ${pathToFileURL(preload).href}`,
      NODE_V8_COVERAGE: coverage,
    },
  });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const [name = ''] = await readdir(coverage);
  // Node wrote the one, and the reporter the other.
  const { result } = await readJson<{ result: readonly { url: string }[] }>(join(coverage, name));
  const modules = await readJson<readonly string[]>(report);
  const urls = result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  return {
    stdout: stdout.toString(),
    scripts: urls.map((url) => fileURLToPath(url)).filter((path) => path !== preload),
    modules: modules.map((loaded) => loaded.replace(/^\w+ /, '')),
  };
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

async function bytesOf(scripts: readonly string[]): Promise<number> {
  const sizes = await Promise.all(scripts.map(async (script) => (await stat(script)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe('the start of the command', () => {
  it('loads nothing but a few lines to say its version', async () => {
    const { stdout, scripts, modules } = await loadedBy(await withFolder(), '--version');
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(scripts).toEqual([main]);
    expect(await bytesOf(scripts)).toBeLessThan(40_000);
    const heavy = ['crypto', 'http', 'tls', 'zlib', 'child_process'];
    expect(modules.filter((name) => heavy.includes(name))).toEqual([]);
  });

  it('loads for a list what is built in, no package, and of Node no fetch and no HTTP/2', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
    const args = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
    const { scripts, modules } = await loadedBy(folder, ...args);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain('good@sluice.test,');
    expect(scripts).toEqual([main, join(main, '..', 'command.cjs')]);
    expect(modules).toContain('http');
    expect(modules.filter((name) => /http2|deps\/undici/.test(name))).toEqual([]);
  });

  it('does not have the parser of HTTP optimized for the few answers of a short list', async () => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), 'email\ngood@sluice.test\n');
    const args = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv'];
    const { stdout } = await loadedBy(folder, ...args);
    expect(stdout).toContain('using Liftoff');
    expect(stdout).not.toContain('using TurboFan');
  });
});
