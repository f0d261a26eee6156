import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Batch } from '../../src/batches/batch.js';
import type { ExportOpener } from '../../src/batches/result-join.js';
import { ContractError } from '../../src/errors/family.js';
import { ExportStore } from '../../src/runs/export-store.js';
import { systemFiles, type FileSystem } from '../../src/runs/file-system.js';
import { withFolder } from '../service/with-service.js';
import { systemError, watchedFiles } from './watched-files.js';

const batch: Batch = {
  id: 6,
  lane: { type: 'email', country: 'US' },
  addresses: 1,
  sizeBytes: 0,
  checksum: 0,
  open: () => [],
};
const chunks = ['{"a@b.example":', '{"valid":true}', '}'];

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

async function readWhole(open: ExportOpener): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of await open()) read.push(chunk);
  return Buffer.concat(read).toString();
}

function fetchOf(counted: { fetches: number }, after?: () => void): ExportOpener {
  return async () => {
    counted.fetches += 1;
    return (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
      after?.();
    })();
  };
}

function storeOn(files: FileSystem = systemFiles): ExportStore {
  return new ExportStore(files, folder);
}

describe('ExportStore', () => {
  it('fetches an export once, however often it is read, and keeps it under its name', async () => {
    const counted = { fetches: 0 };
    const store = storeOn();
    const twice = await store.keep(batch, fetchOf(counted), async (open) => [
      await readWhole(open),
      await readWhole(open),
    ]);
    expect(twice).toEqual([chunks.join(''), chunks.join('')]);
    expect(counted.fetches).toBe(1);
    expect(await readdir(folder)).toEqual(['000007.json']);
    expect(await readWhole(storeOn().opener(batch))).toBe(chunks.join(''));
    expect((await stat(join(folder, '000007.json'))).mode & 0o777).toBe(0o600);
  });

  it('gives no name to an export that was not read to its end', async () => {
    const broken = new ContractError('cut short', { operation: 'exportBatch' });
    const store = storeOn();
    const cut = fetchOf({ fetches: 0 }, () => {
      throw broken;
    });
    await expect(store.keep(batch, cut, readWhole)).rejects.toBe(broken);
    await expect(
      store.keep(batch, fetchOf({ fetches: 0 }), async (open) => {
        await readWhole(open);
        throw broken;
      }),
    ).rejects.toBe(broken);
    expect(await readdir(folder)).not.toContain('000007.json');
    // What is left of it is written over by the next.
    await store.keep(batch, fetchOf({ fetches: 0 }), readWhole);
    expect(await readFile(join(folder, '000007.json'), 'utf8')).toBe(chunks.join(''));
  });

  it('gives the name only to what is on the disk', async () => {
    const calls: string[] = [];
    await storeOn(watchedFiles((call) => void calls.push(call))).keep(
      batch,
      fetchOf({ fetches: 0 }),
      readWhole,
    );
    const order = calls.filter((call) => /^(?:appendFile|sync|rename)/.test(call));
    expect(order.slice(0, 3)).toEqual(Array(3).fill('appendFile 000007.json.part'));
    expect(order.slice(3).map((call) => call.split(' ')[0])).toEqual(['sync', 'rename', 'sync']);
  });

  it.each(['open', 'appendFile', 'sync', 'rename'])('says so when %s fails', async (failing) => {
    const store = storeOn(
      watchedFiles((call) => {
        if (call === `${failing} 000007.json.part`) throw systemError('EIO');
      }),
    );
    await expect(store.keep(batch, fetchOf({ fetches: 0 }), readWhole)).rejects.toMatchObject({
      code: 'output_failed',
      cause: { code: 'EIO' },
    });
    expect(await readdir(folder)).not.toContain('000007.json');
  });
});
