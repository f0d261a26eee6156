import fs from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  systemFiles,
  type FileSystem,
  move,
  writeWhole,
} from '../../../src/platform/files/file-system.js';
import {
  LogFile,
  type LogOptions,
  encodeLine,
  readLines,
} from '../../../src/platform/files/log-file.js';
import { systemError, watchedFiles } from '../../engine/runs/watched-files.js';
import { describeSystemError } from '../../../src/platform/text/system-errors.js';
import { withFolder } from '../../service/with-service.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'log');
});

async function openLog(
  files: FileSystem = systemFiles,
  options: Partial<LogOptions> = {},
): Promise<LogFile> {
  return LogFile.open(files, path, { name: 'the log', ...options }, async (file) => {
    const { length } = await file.readFile();
    return { keptBytes: length, readBytes: length };
  });
}

describe('what may be missing at the end of a log', () => {
  const lines = [1, 2, 3, 4].map((value) => encodeLine(JSON.stringify({ value })));

  function read(bytes: Buffer, dropped: 'last write' | 'last line') {
    const values: unknown[] = [];
    const { isDamaged } = readLines(bytes, { dropped, take: (value) => values.push(value) });
    return { values, isDamaged };
  }

  it.each([
    { broken: [3], write: false, line: false },
    { broken: [2, 3], write: false, line: true },
    { broken: [2], write: true, line: true },
    { broken: [0], write: true, line: true },
  ])('with the lines $broken not as they were', ({ broken, write, line }) => {
    const bytes = Buffer.concat(
      lines.map((whole, index) =>
        broken.includes(index) ? Buffer.from(whole.toString().replace('value', 'valve')) : whole,
      ),
    );
    const values = [1, 2, 3, 4].slice(0, broken[0]).map((value) => ({ value }));
    expect(read(bytes, 'last write')).toEqual({ values, isDamaged: write });
    expect(read(bytes, 'last line')).toEqual({ values, isDamaged: line });
  });

  it('is the rest of a line, by either rule', () => {
    const bytes = Buffer.concat(lines);
    for (let length = bytes.length - 10; length < bytes.length; length += 1) {
      for (const dropped of ['last write', 'last line'] as const) {
        const { values, isDamaged } = read(bytes.subarray(0, length), dropped);
        expect(values).toHaveLength(3);
        expect(isDamaged).toBe(false);
      }
    }
  });
});

describe('a piece that is appended at once', () => {
  const { writeSync, ftruncateSync } = fs;
  afterEach(() => {
    Object.assign(fs, { writeSync, ftruncateSync });
    syncBuiltinESMExports();
  });

  /** The disk takes half of what is written, and then says that it is full. */
  function fillDisk(): void {
    Object.assign(fs, {
      writeSync: (fd: number, bytes: Uint8Array) => {
        writeSync(fd, bytes, 0, bytes.length >> 1);
        throw systemError('ENOSPC');
      },
    });
    syncBuiltinESMExports();
  }

  it('is in the file when it returns, and on the disk when it is settled', async () => {
    const calls: string[] = [];
    const log = await openLog(watchedFiles((call) => void calls.push(call)));
    calls.length = 0;
    log.appendNow(Buffer.from('one'));
    log.appendNow(Buffer.from('two'));
    expect(await readFile(path, 'utf8')).toBe('onetwo');
    await Promise.all([log.settle(), log.settle()]);
    await log.settle();
    expect(calls).toEqual(['datasync log']);
    await log.close();
  });

  it('is not there at all when the disk is full, and the next one is', async () => {
    const log = await openLog();
    log.appendNow(Buffer.from('one'));
    fillDisk();
    expect(() => log.appendNow(Buffer.from('torn'))).toThrow(/ENOSPC/);
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
    log.appendNow(Buffer.from('two'));
    expect(await readFile(path, 'utf8')).toBe('onetwo');
    await log.close();
  });

  it('is the last one where what is torn cannot be cut off', async () => {
    const log = await openLog();
    fillDisk();
    fs.ftruncateSync = () => {
      throw systemError('EIO');
    };
    syncBuiltinESMExports();
    expect(() => log.appendNow(Buffer.from('torn'))).toThrow(/ENOSPC/);
    Object.assign(fs, { writeSync, ftruncateSync });
    syncBuiltinESMExports();
    const message = expect.stringContaining(describeSystemError(systemError('EIO')));
    expect(() => log.appendNow(Buffer.from('two'))).toThrow(
      expect.objectContaining({ code: 'output_failed', message }),
    );
    expect(await readFile(path, 'utf8')).toBe('to');
    await log.close();
  });

  it('is the last one when the disk did not take it', async () => {
    const log = await openLog(
      watchedFiles((call) => {
        if (call === 'datasync log') throw systemError('EIO');
      }),
    );
    log.appendNow(Buffer.from('one'));
    await expect(log.settle()).rejects.toMatchObject({ code: 'output_failed' });
    expect(() => log.appendNow(Buffer.from('two'))).toThrow(
      expect.objectContaining({ code: 'output_failed' }),
    );
    await log.close();
  });

  it('is not waited for where nothing has to outlast a power cut', async () => {
    const calls: string[] = [];
    const log = await openLog(
      watchedFiles((call) => void calls.push(call)),
      { durable: false },
    );
    log.appendNow(Buffer.from('one'));
    await log.settle();
    await log.close();
    expect(calls.filter((call) => call.includes('sync'))).toEqual([]);
  });
});

describe('a log that is replaced', () => {
  it('goes on in the new file', async () => {
    const log = await openLog();
    await log.append(Buffer.from('old'));
    await log.replace(async (file) => file.writeFile('new'));
    await log.append(Buffer.from(' and more'));
    await log.close();
    expect(await readFile(path, 'utf8')).toBe('new and more');
  });

  it.each(['rename log.part', 'sync log.part', 'open log'])(
    'takes nothing more when the call %s fails: nobody knows which file has the name',
    async (failing) => {
      let isFailing = false;
      const files = watchedFiles((call) => {
        if (isFailing && call === failing) throw systemError('EIO');
      });
      const log = await openLog(files);
      isFailing = true;
      await expect(log.replace(async (file) => file.writeFile('new'))).rejects.toThrow(/EIO/);
      isFailing = false;
      await expect(log.append(Buffer.from('more'))).rejects.toThrow(
        expect.objectContaining({ code: 'output_failed' }),
      );
      await log.close();
      await expect(stat(`${path}.part`)).rejects.toThrow(/ENOENT/);
    },
  );
});

describe('a folder that cannot be synced', () => {
  const refusing = (code: string): FileSystem =>
    Object.assign(Object.create(systemFiles) as FileSystem, {
      open: async (...args: Parameters<FileSystem['open']>) => {
        const handle = await systemFiles.open(...args);
        if ((await handle.stat()).isDirectory()) {
          handle.sync = async () => {
            throw systemError(code);
          };
        }
        return handle;
      },
    });
  const writers: readonly (readonly [string, (files: FileSystem) => Promise<unknown>])[] = [
    ['a log', async (files) => (await openLog(files)).close()],
    ['a whole file', async (files) => writeWhole(files, path, async (file) => file.writeFile('a'))],
    [
      'a new name',
      async (files) => {
        await writeFile(`${path}.old`, '');
        await move(files, { from: `${path}.old`, to: path });
      },
    ],
  ];

  it.each(writers)(
    'is no failure for %s where its file system knows no such thing',
    async (_, write) => {
      await write(refusing('EINVAL'));
      expect(await stat(path)).toBeTruthy();
    },
  );

  it.each(writers)('is one for %s where the disk fails', async (_, write) => {
    await expect(write(refusing('EIO'))).rejects.toThrow(/EIO/);
  });
});
