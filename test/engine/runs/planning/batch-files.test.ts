import { readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { DiskStorage } from '../../../../src/engine/runs/planning/batch-files.js';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import { withFolder } from '../../../service/with-service.js';
import { systemError, watchedFiles } from '../watched-files.js';

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

async function contentOf(storage: DiskStorage, batch: number): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of storage.open(batch)) read.push(chunk);
  return Buffer.concat(read).toString();
}

const block = fc.record({ batch: fc.nat(3), text: fc.string(), flush: fc.boolean() });

describe('DiskStorage', () => {
  it('gives the blocks of each batch in the order they came, as often as asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 20 }), async (blocks) => {
        const storage = new DiskStorage(systemFiles, folder);
        const expected = new Map<number, string>();
        for (const { batch, text, flush } of blocks) {
          storage.append(batch, Buffer.from(text));
          expected.set(batch, (expected.get(batch) ?? '') + text);
          if (flush) await storage.flush();
        }
        await storage.flush();
        for (const [batch, text] of expected) {
          const wanted = Buffer.from(text).toString();
          expect(await contentOf(storage, batch)).toBe(wanted);
          expect(await contentOf(storage, batch)).toBe(wanted);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('replaces what an earlier process left, and only its owner can read it', async () => {
    const old = 'old@example.org\n'.repeat(10);
    await writeFile(join(folder, '000001.txt'), old, { mode: 0o600 });
    const storage = new DiskStorage(systemFiles, folder);
    storage.append(0, Buffer.from('new@example.org\n'));
    await storage.flush();
    storage.append(0, Buffer.from('more@example.org\n'));
    await storage.flush();
    expect(await contentOf(storage, 0)).toBe('new@example.org\nmore@example.org\n');
    expect(await readdir(folder)).toEqual(['000001.txt']);
    expect((await stat(join(folder, '000001.txt'))).mode & 0o777).toBe(0o600);
  });

  it('keeps what an earlier process wrote whole, and writes again what is not as it was', async () => {
    const [whole, torn] = ['one@example.org\n', 'two@example.org\n'];
    await writeFile(join(folder, '000001.txt'), whole, { mode: 0o600 });
    await writeFile(join(folder, '000002.txt'), torn.slice(3), { mode: 0o600 });
    const calls: string[] = [];
    const storage = new DiskStorage(
      watchedFiles((call) => void calls.push(call)),
      folder,
    );
    await storage.keepWhole([whole, torn, 'gone\n'].map((text) => crc32(text)));
    // Another list would have other lines: what was launched is known by its file alone.
    storage.append(0, Buffer.from('other@example.org\n'));
    storage.append(1, Buffer.from(torn));
    await storage.flush();
    await storage.makeSafe();
    expect(await contentOf(storage, 0)).toBe(whole);
    expect(await contentOf(storage, 1)).toBe(torn);
    expect(calls.filter((call) => call.startsWith('sync'))).toEqual([
      'sync 000002.txt',
      `sync ${basename(folder)}`,
    ]);
  });

  it.each(['open', 'appendFile', 'close'])('says so when %s fails', async (failing) => {
    const files = watchedFiles((call) => {
      if (call === `${failing} 000001.txt`) throw systemError('ENOSPC');
    });
    const storage = new DiskStorage(files, folder);
    storage.append(0, Buffer.from('x'));
    await expect(storage.flush()).rejects.toMatchObject({
      code: 'output_failed',
      cause: { code: 'ENOSPC' },
    });
  });
});
