import { strict as assert } from 'node:assert';
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  Journal,
  encodeGroup,
  encodeHead,
  newJournalId,
  parseJournal,
} from '../../../src/engine/stores/directory/journal.js';
import { systemFiles, type FileSystem } from '../../../src/platform/files/file-system.js';
import { withFolder } from '../../service/with-service.js';
import { watchedFiles } from '../runs/watched-files.js';

let path: string;
beforeEach(async () => {
  path = join(await withFolder(), 'journal');
});

/** A journal of one process, group by group. */
function journalOf(id: string, groups: readonly (readonly unknown[])[]): Buffer {
  let bytes = encodeHead(id);
  for (const group of groups) {
    const entries = group.map((entry) => JSON.stringify(entry));
    bytes = Buffer.concat([bytes, encodeGroup(id, bytes.length, entries)]);
  }
  return bytes;
}

function entriesOf(length: number, text: string, bytes: number): readonly unknown[] {
  return Array.from({ length }, (_, entry) => ({ entry, text: text.repeat(bytes) }));
}

/** What is on the disk of `after` when only these of the blocks were written, over `before`. */
function withBlocks(
  before: Buffer,
  after: Buffer,
  blocks: { readonly bytes: number; readonly kept: number },
): Buffer {
  const disk = Buffer.alloc(after.length);
  before.copy(disk);
  const first = Math.floor(syncedBytes / blocks.bytes);
  for (let block = first; block * blocks.bytes < after.length; block += 1) {
    if (((blocks.kept >> (block - first)) & 1) === 0) continue;
    const at = block * blocks.bytes;
    after.copy(disk, at, at, at + blocks.bytes);
  }
  return disk;
}

const id = newJournalId();
const safe = [entriesOf(1, 'a', 300), entriesOf(2, 'b', 200)];
const synced = journalOf(id, safe);
const syncedBytes = synced.length;

describe.each([
  { name: 'pages of 4 KiB', blockBytes: 4096, entryBytes: 5000 },
  { name: 'sectors of 512 bytes', blockBytes: 512, entryBytes: 650 },
])('a power cut in the last write, which leaves any of its $name', ({ blockBytes, entryBytes }) => {
  const last = entriesOf(5, 'c', entryBytes);
  const whole = journalOf(id, [...safe, last]);
  const blocks = Math.ceil(whole.length / blockBytes) - Math.floor(syncedBytes / blockBytes);

  it.each([
    ['zeros', () => Buffer.alloc(0)],
    [
      'whole lines of an older journal',
      () => journalOf(newJournalId(), [...safe, ...Array(40).fill(entriesOf(2, 'd', 40))]),
    ],
    [
      'an earlier write of this journal that was torn too',
      () => journalOf(id, [...safe, entriesOf(9, 'e', entryBytes)]).fill(0, syncedBytes + 700),
    ],
    ['bytes of another file', () => Buffer.alloc(whole.length, '\n00000000 [1]\n')],
  ])('with %s in its place: the write counts whole or not at all', (_, older) => {
    const before = Buffer.concat([synced, older().subarray(syncedBytes)]);
    for (let kept = 0; kept < 2 ** blocks; kept += 1) {
      const disk = withBlocks(before, whole, { bytes: blockBytes, kept });
      const isWhole = disk.equals(whole);
      const read = parseJournal(disk, 'journal');
      assert.equal(read.keptBytes, isWhole ? whole.length : syncedBytes);
      assert.deepEqual(read.entries, isWhole ? [...safe, last].flat() : safe.flat());
      // The length of the file may be from before the write, or between.
      const cut = syncedBytes + ((kept * 97) % (whole.length - syncedBytes));
      assert.equal(parseJournal(disk.subarray(0, cut), 'journal').keptBytes, syncedBytes);
    }
    expect(blocks).toBeGreaterThan(5);
  });
});

describe('a power cut in the last write', () => {
  const whole = journalOf(id, [...safe, entriesOf(5, 'c', 150)]);

  it('that reaches to any byte, with zeros or nothing behind it: the write counts whole or not at all', () => {
    for (let at = syncedBytes; at < whole.length; at += 1) {
      const disk = Buffer.from(whole);
      expect(parseJournal(disk.subarray(0, at), 'journal').keptBytes).toBe(syncedBytes);
      expect(parseJournal(disk.fill(0, at), 'journal').keptBytes).toBe(syncedBytes);
    }
  });

  it('hides no damage: any byte before it that is not as it was is refused', () => {
    for (let at = 0; at < syncedBytes; at += 1) {
      for (const byte of [0, 0x0a, 0x61, (whole[at] ?? 0) ^ 1]) {
        if (byte === whole[at]) continue;
        const disk = Buffer.from(whole);
        disk[at] = byte;
        expect(() => parseJournal(disk, 'journal'), `byte ${at}`).toThrow(
          expect.objectContaining({ code: 'state_damaged', fault: 'damaged' }),
        );
      }
    }
  });
});

it('writes what comes together as one line', async () => {
  const { journal } = await Journal.open(systemFiles, path);
  const lines = async (): Promise<number> => (await readFile(path, 'utf8')).split('\n').length - 1;
  expect(await lines()).toBe(1);
  const all = [1, 2, 3, 4, 5].map(async (number) => journal.append({ number }));
  await Promise.all(all);
  // The first is on its way when the others come.
  expect(await lines()).toBe(3);
  await journal.close();
});

it('goes on after a torn write, also over what is left of it on the disk', async () => {
  const last = journalOf(id, [...safe, entriesOf(5, 'c', 1000)]);
  await writeFile(path, last.subarray(0, last.length - 1));
  const { journal, entries } = await Journal.open(systemFiles, path);
  expect(entries).toEqual(safe.flat());
  await journal.append('next');
  await journal.close();
  expect(await Journal.read(systemFiles, path)).toEqual([...safe.flat(), 'next']);
});

it('reads and writes a journal of version 2 to the letter as earlier versions did', async () => {
  const given = '0123456789abcdef';
  const groups = [[{ entry: 'kept' }, { text: 'zwölf' }], [3]];
  const written =
    '2bd62284 {"journal":"sluice","version":2,"id":"0123456789abcdef"}\n' +
    '33afae51 [{"entry":"kept"},{"text":"zwölf"}]\n' +
    'ebea0448 [3]\n';
  expect(journalOf(given, groups).toString()).toBe(written);
  await writeFile(path, written, { mode: 0o600 });
  expect(await Journal.read(systemFiles, path)).toEqual(groups.flat());
});

describe('two processes that a lock does not keep apart', () => {
  const fenced = { code: 'state_locked' };

  async function open(files: FileSystem = systemFiles): Promise<Journal> {
    return (await Journal.open(files, path)).journal;
  }

  it('the one whose journal was written by the other stops, and writes nothing', async () => {
    const first = await open();
    await first.append({ of: 'first' });
    const second = await open();
    await second.append({ of: 'second' });
    const before = await readFile(path);
    await expect(first.append({ of: 'first again' })).rejects.toMatchObject(fenced);
    await expect(first.append({ of: 'first, once more' })).rejects.toMatchObject(fenced);
    expect(await readFile(path)).toEqual(before);
    await second.append({ of: 'second again' });
    await Promise.all([first.close(), second.close()]);
    expect(await Journal.read(systemFiles, path)).toHaveLength(3);
  });

  it.each([
    ['cut', 'state_locked', async () => truncate(path, 100)],
    [
      'replaced',
      'state_locked',
      async () => {
        await rm(path);
        await writeFile(path, '', { mode: 0o600 });
      },
    ],
    // Its folder may have gone away as well.
    ['removed', 'output_failed', async () => rm(path)],
  ] as const)('the one whose journal was %s stops with %s', async (_, code, disturb) => {
    const journal = await open();
    await journal.append(entriesOf(1, 'x', 200));
    await disturb();
    await expect(journal.append({ late: true })).rejects.toMatchObject({ code });
    await journal.close();
  });

  it('a write that meets another one counts for neither', async () => {
    let isMeeting = false;
    const files = watchedFiles(async (call) => {
      if (isMeeting && call === 'appendFile journal') await appendFile(path, 'of the other\n');
    });
    const journal = await open(files);
    await journal.append({ kept: true });
    isMeeting = true;
    await expect(journal.append({ lost: true })).rejects.toMatchObject(fenced);
    await journal.close();
    expect(await Journal.read(systemFiles, path)).toEqual([{ kept: true }]);
  });

  it('the one that opens while the other writes stops', async () => {
    await (await open()).close();
    let isMeeting = true;
    const files = watchedFiles(async (call) => {
      if (call !== 'stat journal' || !isMeeting) return;
      isMeeting = false;
      await appendFile(path, 'of the other\n');
    });
    await expect(open(files)).rejects.toMatchObject(fenced);
  });
});
