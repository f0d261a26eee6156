import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { nodeBinary } from '../../scripts/node-binary.mjs';
import { projectRoot } from '../../scripts/project.mjs';

/** Node keeps compiled code from 22.8 on: one that does, whichever the tests run on. */
let node: string;
beforeAll(async () => {
  node = await nodeBinary('24.21.0');
}, 300_000);

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-start-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the command, and gives what it prints. */
async function start(temporary: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    node,
    [join(projectRoot, 'dist', 'cli', 'main.js'), '--help'],
    { env: { TMPDIR: temporary } },
  );
  return stdout;
}

describe('compiled code', () => {
  it('is kept in a folder of the user’s own among the temporary files', async () => {
    const temporary = await newFolder();
    expect(await start(temporary)).toContain('sluice verify');
    const [name = ''] = await readdir(temporary);
    expect(name).toMatch(/^sluice-compiled/);
    expect((await stat(join(temporary, name))).mode & 0o077).toBe(0);
    expect(await readdir(join(temporary, name))).toHaveLength(1);
  });

  it('is not taken from a folder that others may write to', async () => {
    const temporary = await newFolder();
    const folder = join(temporary, `sluice-compiled-${process.geteuid?.() ?? ''}`);
    await mkdir(folder, { mode: 0o755 });
    expect(await start(temporary)).toContain('sluice verify');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is done without where there is no place for it', async () => {
    const file = join(await newFolder(), 'no-folder');
    await writeFile(file, '');
    expect(await start(file)).toContain('sluice verify');
    const missing = join(await newFolder(), 'missing');
    expect(await start(missing)).toContain('sluice verify');
    await expect(stat(missing)).rejects.toThrow('ENOENT');
  });
});
