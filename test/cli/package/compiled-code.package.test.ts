import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';
import { withFolder } from '../../service/with-service.js';

const built = join(projectRoot, 'dist', 'cli');

interface Start {
  readonly temporary: string;
  /** The folder of the built command. */
  readonly from?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts the command, and gives what it prints. */
async function start(
  args: readonly string[],
  { temporary, from = built, env }: Start,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(from, 'main.js'), ...args], {
    env: { TMPDIR: temporary, ...env },
  });
  return stdout;
}

/** Verifies a list of one row, and gives the output: after it, code is kept. */
async function verifyOne(given: Start, output = 'out.csv'): Promise<Buffer> {
  const folder = await withFolder();
  const list = join(folder, 'list.csv');
  await writeFile(list, 'email\ngood@sluice.test\n');
  const columns = ['--email', 'email', '--country', 'US', '--local', '--quiet'];
  await start(['verify', list, ...columns, '-o', join(folder, output)], given);
  return readFile(join(folder, output));
}

/** The one file with the code that was kept. */
async function keptIn(temporary: string): Promise<string> {
  const [name = ''] = await readdir(temporary);
  expect(name).toMatch(/^sluice-compiled/);
  const files = await readdir(join(temporary, name));
  expect(files).toHaveLength(1);
  return join(temporary, name, files[0] ?? '');
}

describe('compiled code', () => {
  it('is kept in a folder of the user’s own among the temporary files, and used from there', async () => {
    const temporary = await withFolder();
    await verifyOne({ temporary });
    const file = await keptIn(temporary);
    expect((await stat(join(file, '..'))).mode & 0o077).toBe(0);
    expect((await stat(file)).mode & 0o077).toBe(0);
    const { ino, mtimeMs, size } = await stat(file);
    expect(size).toBeGreaterThan(500_000);
    expect(String(await verifyOne({ temporary }))).toContain('good@sluice.test,verified');
    // Imports a package that not everybody has installed.
    expect(String((await verifyOne({ temporary }, 'out.parquet')).subarray(0, 4))).toBe('PAR1');
    // What V8 refuses, or is not whole, is written again.
    expect(await stat(await keptIn(temporary))).toMatchObject({ ino, mtimeMs, size });
  });

  it('is made again where it is damaged or cut short', async () => {
    const temporary = await withFolder();
    await verifyOne({ temporary });
    const file = await keptIn(temporary);
    const whole = await readFile(file);
    const damaged = Buffer.from(whole).fill(0, whole.length >> 1);
    for (const broken of [damaged, whole.subarray(0, 1000)]) {
      await writeFile(file, broken);
      expect(String(await verifyOne({ temporary }))).toContain('good@sluice.test,verified');
      expect((await stat(await keptIn(temporary))).size).toBeGreaterThan(500_000);
      expect((await readFile(file)).equals(broken)).toBe(false);
    }
  });

  it('is never that of another text, though it be as long', async () => {
    const temporary = await withFolder();
    const folder = await withFolder();
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    for (const name of ['main.js', 'command.cjs']) {
      await copyFile(join(built, name), join(folder, name));
    }
    await verifyOne({ temporary, from: folder });
    const script = join(folder, 'command.cjs');
    const text = await readFile(script, 'utf8');
    // A literal of the script may go over several lines.
    const shown = new RegExp('Show an unfinished run'.split('').join(String.raw`(?:\\\n)?`));
    await writeFile(
      script,
      text.replace(shown, (literal) => literal.replace('S', 'T')),
    );
    const help = await start(['--help'], { temporary, from: folder });
    expect(help).toContain('Thow an unfinished run');
  });

  it('is never that of another release of Node, whose V8 may call itself by the same number', async () => {
    const temporary = await withFolder();
    await verifyOne({ temporary });
    const file = await keptIn(temporary);
    const before = await stat(file);
    const release = join(await withFolder(), 'release.cjs');
    await writeFile(release, "Object.defineProperty(process, 'version', { value: 'v20.0.0' });\n");
    await verifyOne({ temporary, env: { NODE_OPTIONS: `--require ${release}` } });
    expect(await readdir(join(file, '..'))).toHaveLength(2);
    const { ino, mtimeMs } = await stat(file);
    expect({ ino, mtimeMs }).toEqual({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  it('is kept where Node is asked to keep its own, and not at all where it is asked to keep none', async () => {
    const temporary = await withFolder();
    const other = join(await withFolder(), 'code');
    await verifyOne({ temporary, env: { NODE_COMPILE_CACHE: other } });
    await verifyOne({ temporary, env: { NODE_DISABLE_COMPILE_CACHE: '1' } });
    expect(await readdir(temporary)).toEqual([]);
    expect(await readdir(other)).not.toEqual([]);
  });

  it('is not taken from a folder that others may write to', async () => {
    const temporary = await withFolder();
    const folder = join(temporary, `sluice-compiled-${process.geteuid?.() ?? ''}`);
    await mkdir(folder, { mode: 0o755 });
    await verifyOne({ temporary });
    expect(await readdir(folder)).toEqual([]);
  });

  it('is done without where there is no place for it', async () => {
    const file = join(await withFolder(), 'no-folder');
    await writeFile(file, '');
    expect(await start(['--help'], { temporary: file })).toContain('sluice verify');
    const missing = join(await withFolder(), 'missing');
    expect(await start(['--help'], { temporary: missing })).toContain('sluice verify');
    await expect(stat(missing)).rejects.toThrow('ENOENT');
  });
});
