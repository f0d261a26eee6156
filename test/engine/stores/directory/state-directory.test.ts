import { mkdir, readdir, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import type { RunEntry } from '../../../../src/engine/stores/journal-entries.js';
import {
  readRunState,
  StateDirectory,
} from '../../../../src/engine/stores/directory/state-directory.js';
import { withFolder } from '../../../service/with-service.js';
import { watchedFiles } from '../../runs/watched-files.js';
import { runEntry } from '../example-entries.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'run');
});

async function open(fresh = false): Promise<StateDirectory> {
  return StateDirectory.open(systemFiles, path, { fresh });
}

describe('StateDirectory', () => {
  it('can be read by its owner only, and is gone when it is removed', async () => {
    const store = await open();
    await store.record(runEntry);
    for (const name of ['', 'batches', 'results']) {
      expect((await stat(join(path, name))).mode & 0o777, name).toBe(0o700);
    }
    for (const name of ['journal', 'lock']) {
      expect((await stat(join(path, name))).mode & 0o777, name).toBe(0o600);
    }
    await writeFile(store.inputPath, 'x');
    await mkdir(store.servicePath);
    await store.remove();
    await expect(stat(path)).rejects.toThrow(/ENOENT/);
  });

  it('forgets an unfinished run when it is asked to', async () => {
    const first = await open();
    await first.record(runEntry);
    await writeFile(join(path, 'results', '000001'), '{}');
    await first.close();
    const second = await open(true);
    expect(second.state.run).toBeUndefined();
    expect(await readdir(join(path, 'results'))).toEqual([]);
    await second.close();
    expect((await readRunState(systemFiles, path))?.run).toBeUndefined();
  });

  it('loses its journal last when the run is over, and first when it is forgotten', async () => {
    const removed: string[] = [];
    const files = watchedFiles((call) => {
      if (/^(?:rm|rename) /.test(call)) removed.push(call.slice(call.indexOf(' ') + 1));
    });
    const store = await StateDirectory.open(files, path, { fresh: false });
    await store.record(runEntry);
    await writeFile(join(path, 'tickets'), '');
    removed.length = 0;
    await writeFile(join(path, 'results', '000001'), '{}');
    await store.startOver();
    expect(removed[0]).toContain('journal');
    expect(removed.at(-1)).toBe('dropped');
    expect(store.state.run).toBeUndefined();
    expect(await readdir(join(path, 'results'))).toEqual([]);
    await expect(open()).rejects.toMatchObject({ code: 'state_locked' });
    await store.record({ ...runEntry, id: 'fedcba9876543210' });
    expect((await readRunState(systemFiles, path))?.run?.id).toBe('fedcba9876543210');
    removed.length = 0;
    await writeFile(join(path, 'recalled'), '');
    await store.remove();
    expect(removed.slice(-3)).toEqual(['journal', 'recalled', 'run']);
    expect(removed.indexOf('results')).toBeLessThan(removed.indexOf('journal'));
  });

  it('is refused where a run in it has lost its journal, and not where it was being dropped', async () => {
    const first = await open();
    await first.record(runEntry);
    await writeFile(join(path, 'results', '000001'), '{}');
    await first.close();
    const journal = join(path, 'journal');
    await rename(journal, join(path, 'dropped'));
    await (await open()).close();
    expect(await readdir(path)).not.toContain('dropped');
    await writeFile(join(path, 'batches', '000001.txt'), 'a@sluice.test');
    for (const damage of [async () => truncate(journal), async () => rm(journal)]) {
      await damage();
      await expect(open()).rejects.toMatchObject({ code: 'state_damaged' });
    }
    const fresh = await open(true);
    expect(await readdir(join(path, 'batches'))).toEqual([]);
    await fresh.close();
  });

  it('has its lock on the disk before anything else, and until the end: by it the next run knows it', async () => {
    const calls: string[] = [];
    const files = watchedFiles((call) => void calls.push(call));
    const store = await StateDirectory.open(files, path, { fresh: false });
    const firstSync = calls.indexOf('sync run');
    expect(firstSync).toBeGreaterThan(calls.indexOf('openLocked lock'));
    expect(firstSync).toBeLessThan(calls.indexOf('mkdir batches'));
    await writeFile(join(path, 'recalled'), '');
    await store.remove();
    const removed = calls.slice(calls.indexOf('rm recalled'));
    expect(removed.indexOf('sync run')).toBeGreaterThan(0);
    expect(removed.indexOf('sync run')).toBeLessThan(removed.indexOf('rm run'));
  });

  it('is gone at once behind the journal of a run without a history, which would be paid for again', async () => {
    const calls: string[] = [];
    const files = watchedFiles((call) => void calls.push(call));
    const store = await StateDirectory.open(files, path, { fresh: false });
    await store.record(runEntry);
    await store.clear();
    await store.remove();
    expect(calls.slice(calls.indexOf('rm journal'))).toEqual([
      'rm journal',
      'readdir run',
      'rm run',
      'close lock',
    ]);
  });

  it('is no folder that holds something else, whatever it is notified', async () => {
    await mkdir(path);
    await writeFile(join(path, 'precious'), 'x');
    for (const fresh of [false, true]) {
      await expect(open(fresh)).rejects.toMatchObject({
        code: 'invalid_option',
        option: 'stateDir',
        fault: 'other_content',
        message: expect.stringMatching(/\bprecious\b/) as string,
      });
    }
    // Nor does a lock make it one, nor names that a run has too.
    await writeFile(join(path, 'lock'), '');
    await expect(open()).rejects.toMatchObject({ code: 'invalid_option' });
    expect((await readdir(path)).toSorted()).toEqual(['lock', 'precious']);
    const other = `${path}-2`;
    await mkdir(join(other, 'results'), { recursive: true });
    await expect(StateDirectory.open(systemFiles, other, { fresh: true })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    expect(await readdir(other)).toEqual(['results']);
  });

  it('is no link; the folders above it may be links', async () => {
    await mkdir(`${path}-real`, { mode: 0o700 });
    await symlink(`${path}-real`, path);
    const refused = {
      code: 'invalid_option',
      fault: 'link',
      file: path,
      message: expect.stringContaining(` ${path}-real`) as string,
    };
    await expect(open()).rejects.toMatchObject(refused);
    await expect(open(true)).rejects.toMatchObject(refused);
    expect(await readdir(`${path}-real`)).toEqual([]);
    const below = join(path, 'below');
    const store = await StateDirectory.open(systemFiles, below, { fresh: false });
    await store.record(runEntry);
    await store.close();
    expect(await readdir(join(`${path}-real`, 'below'))).toContain('journal');
  });

  it.runIf(process.platform === 'linux')('ends where a folder takes no others', async () => {
    path = '/proc/sluice/run';
    await expect(open()).rejects.toMatchObject({ code: 'output_failed' });
  });

  it('refuses entries of another version and leaves them as they are', async () => {
    const store = await open();
    // What a later version may write.
    await store.record({ entry: 'later' } as unknown as RunEntry);
    await store.close();
    const before = (await stat(join(path, 'journal'))).size;
    await expect(open()).rejects.toMatchObject({ code: 'state_damaged' });
    expect((await stat(join(path, 'journal'))).size).toBe(before);
    await (await open(true)).close();
  });
});
