import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { OutputError } from '../../../../src/platform/errors/errors.js';
import { systemFiles, type FileSystem } from '../../../../src/platform/files/file-system.js';
import {
  encodeGroup,
  encodeHead,
  Journal,
  parseJournal,
} from '../../../../src/engine/stores/directory/journal.js';
import { encodeLine } from '../../../../src/platform/files/log-file.js';
import { withFolder } from '../../../service/with-service.js';
import { unicodeText } from '../../../platform/text/unicode-text.js';
import { systemError, watchedFiles } from '../../runs/watched-files.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'journal');
});

async function write(entries: readonly unknown[], files: FileSystem = systemFiles): Promise<void> {
  const { journal } = await Journal.open(files, path);
  for (const entry of entries) await journal.append(entry);
  await journal.close();
}

async function reopened(): Promise<readonly unknown[]> {
  const { journal, entries } = await Journal.open(systemFiles, path);
  await journal.close();
  return entries;
}

/** Entries as runs have them, and texts that are hard on lines. */
const anyEntry = fc.record({
  entry: fc.constantFrom('run', 'batch'),
  text: fc.oneof(unicodeText(), fc.constantFrom('\n', '\u2028', '\ufffd', '\ud800')),
  number: fc.integer(),
});

function asRead(entries: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(entries));
}

describe('Journal', () => {
  it('gives back what was appended, over several openings', async () => {
    await write([{ a: 1 }]);
    await write([{ b: 'two\nlines' }, null]);
    expect(await reopened()).toEqual([{ a: 1 }, { b: 'two\nlines' }, null]);
    expect(await Journal.read(systemFiles, path)).toEqual([{ a: 1 }, { b: 'two\nlines' }, null]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('gives a beginning of the entries, cut at any byte, and goes on behind it', async () => {
    const entries = [{ first: 1 }, { second: 'zwölf' }, { third: [1, 2, 3] }];
    await write(entries);
    const whole = await readFile(path);
    let most = 0;
    for (let length = 0; length <= whole.length; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      const read = await reopened();
      expect(read).toEqual(entries.slice(0, read.length));
      expect(read.length).toBeGreaterThanOrEqual(most);
      most = read.length;
      await write(['behind']);
      expect(await reopened()).toEqual([...read, 'behind']);
    }
    expect(most).toBe(entries.length);
  });

  it('gives a beginning of any entries, cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 6 }), fc.nat(), async (entries, cut) => {
        await writeFile(path, '');
        await write(entries);
        const whole = await readFile(path);
        await writeFile(path, whole.subarray(0, cut % (whole.length + 1)));
        const read = await reopened();
        expect(read).toEqual((asRead(entries) as unknown[]).slice(0, read.length));
      }),
      { numRuns: 60 },
    );
  });

  it('refuses any byte that is another in the middle, and never gives what was not written', async () => {
    const entries = [{ first: 1 }, { second: 'zwölf \ufffd' }, { third: 3 }];
    await write(entries);
    const whole = await readFile(path);
    const lastGroup = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(path, bytes);
      if (at < lastGroup) {
        await expect(reopened(), `byte ${at}`).rejects.toMatchObject({ code: 'state_damaged' });
        // What is refused is not touched.
        expect(await readFile(path)).toEqual(bytes);
      } else {
        const read = await reopened();
        expect(read).toEqual(entries.slice(0, read.length));
      }
    }
  });

  it('refuses what another version wrote', async () => {
    const head = { journal: 'sluice', version: 3, id: 'a' };
    await writeFile(path, encodeLine(JSON.stringify(head), 0));
    await expect(reopened()).rejects.toMatchObject({ fault: 'unsupported', file: path });
  });

  it('refuses an entry that is in no group', async () => {
    const id = '0123456789abcdef';
    const head = encodeHead(id);
    const entry = encodeLine('{"a":1}', crc32(`${id} ${head.length} `));
    await writeFile(path, Buffer.concat([head, entry]));
    await expect(reopened()).rejects.toMatchObject({ code: 'state_damaged' });
  });

  it('says what putting back an older copy means, and what starting over costs', async () => {
    await write([{ a: 1 }, { b: 2 }]);
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0, 66, 70));
    await expect(reopened()).rejects.toMatchObject({
      code: 'state_damaged',
      fault: 'damaged',
      file: path,
      message: expect.stringMatching(/\d+.*`fresh`/) as string,
    });
  });

  it('writes what comes together in the order it came, and lets nobody on before it is safe', async () => {
    const calls: string[] = [];
    let isHeld = false;
    let letOn = (): void => undefined;
    const files = watchedFiles(async (call) => {
      calls.push(call);
      if (isHeld && call === 'datasync journal') {
        await new Promise<void>((resolve) => {
          letOn = resolve;
        });
      }
    });
    const { journal } = await Journal.open(files, path);
    isHeld = true;
    calls.length = 0;
    const done: number[] = [];
    const append = async (number: number): Promise<void> => {
      await journal.append({ number });
      done.push(number);
    };
    const all = [append(1)];
    while (!calls.includes('datasync journal')) await turn();
    for (const number of [2, 3, 4, 5]) all.push(append(number));
    await turn();
    expect(done).toEqual([]);
    isHeld = false;
    letOn();
    await Promise.all(all);

    expect(done).toEqual([1, 2, 3, 4, 5]);
    // One write and one flush for the four that came while the first was on its way.
    const oneGroup = ['stat journal', 'appendFile journal', 'datasync journal', 'stat journal'];
    expect(calls).toEqual([...oneGroup, ...oneGroup]);
    await journal.close();
    expect(await reopened()).toEqual([1, 2, 3, 4, 5].map((number) => ({ number })));
  });

  it.each(['appendFile', 'datasync'])(
    'takes nothing more after a failed %s, not even what could be written',
    async (failing) => {
      let isFailing = false;
      const files = watchedFiles((call) => {
        if (isFailing && call === `${failing} journal`) throw systemError('EIO');
      });
      const { journal } = await Journal.open(files, path);
      await journal.append({ kept: 1 });
      isFailing = true;
      const together = await Promise.allSettled([
        journal.append({ lost: 1 }),
        journal.append({ lost: 2 }),
      ]);
      for (const end of together) {
        expect(end).toMatchObject({ status: 'rejected', reason: expect.any(OutputError) });
      }
      isFailing = false;
      const before = await readFile(path);
      await expect(journal.append({ lost: 3 })).rejects.toMatchObject({
        code: 'output_failed',
        cause: { code: 'EIO' },
      });
      expect(await readFile(path)).toEqual(before);
      await journal.close();
    },
  );
});

it('reads a group of any number of entries', () => {
  const head = encodeHead('id');
  const group = encodeGroup(
    'id',
    head.length,
    Array.from({ length: 200_000 }, () => '{}'),
  );
  expect(parseJournal(Buffer.concat([head, group]), 'journal').entries).toHaveLength(200_000);
});
