import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import {
  ResultStore,
  decodeResults,
  encodeResults,
} from '../../../src/engine/stores/result-store.js';
import { type FileSystem, systemFiles } from '../../../src/platform/files/file-system.js';
import { withFolder } from '../../service/with-service.js';
import { systemError, watchedFiles } from '../runs/watched-files.js';
import fc from 'fast-check';
import { unicodeText } from '../../platform/text/unicode-text.js';

const batch: Batch = {
  id: 6,
  group: { type: 'email', country: 'US' },
  addresses: 2,
  sizeBytes: 0,
  checksum: 0,
  open: () => [],
};
const outcomes = new OutcomeTable();
const results = {
  lines: Uint32Array.of(1, 0),
  outcomes: Uint32Array.of(outcomes.idOf('no_result', 'no_record'), outcomes.idOf('failed', 'x')),
};

let folder: string;
beforeEach(async () => {
  folder = await withFolder();
});

async function keep(files: FileSystem = systemFiles): Promise<void> {
  await new ResultStore(files, folder).keep(batch, results, outcomes);
}

describe('ResultStore', () => {
  it('keeps results under the name of their batch, for their owner alone', async () => {
    await keep();
    expect(await readdir(folder)).toEqual(['000007']);
    expect((await stat(join(folder, '000007'))).mode & 0o777).toBe(0o600);
    expect(await new ResultStore(systemFiles, folder).read(batch, outcomes)).toEqual(results);
  });

  it('gives the name only to what is on the disk', async () => {
    const calls: string[] = [];
    await keep(watchedFiles((call) => void calls.push(call)));
    const order = calls.filter((call) => /^(?:appendFile|sync|rename)/.test(call));
    expect(order.map((call) => call.split(' ')[0])).toEqual([
      'appendFile',
      'sync',
      'rename',
      'sync',
    ]);
  });

  it.each(['open', 'appendFile', 'sync', 'rename'])('says so when %s fails', async (failing) => {
    const files = watchedFiles((call) => {
      if (call === `${failing} 000007.part`) throw systemError('EIO');
    });
    await expect(keep(files)).rejects.toMatchObject({
      code: 'output_failed',
      cause: { code: 'EIO' },
    });
    expect(await readdir(folder)).not.toContain('000007');
    // What is left of it is written over by the next.
    await keep();
    expect(await new ResultStore(systemFiles, folder).read(batch, outcomes)).toEqual(results);
  });

  it('refuses results with any bit changed, or cut anywhere', async () => {
    await keep();
    const path = join(folder, '000007');
    const whole = await readFile(path);
    const damaged = [
      ...Array.from(whole, (_, at) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        return changed;
      }),
      ...Array.from(whole, (_, length) => whole.subarray(0, length)),
      Buffer.concat([whole, Buffer.alloc(4)]),
    ];
    for (const bytes of damaged) {
      await writeFile(path, bytes);
      await expect(
        new ResultStore(systemFiles, folder).read(batch, outcomes),
      ).rejects.toMatchObject({ code: 'state_damaged' });
    }
  });
});

const anyRecord = fc.record({
  valid: fc.boolean(),
  wrong: fc.boolean(),
  unknown: fc.boolean(),
  operator: unicodeText(),
});

it('tells any results to a table that numbers its outcomes in another way', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(0xffff_fffe), fc.nat(20))),
      fc.array(anyRecord, { minLength: 1, maxLength: 20 }),
      fc.nat(5),
      (found, records, before) => {
        const table = new OutcomeTable();
        const ids = records.map((record) => table.idOfRecord('phone', record));
        const results = {
          lines: Uint32Array.from(found, ([line]) => line),
          outcomes: Uint32Array.from(found, ([, at]) => ids[at % ids.length] ?? 0),
        };
        const other = new OutcomeTable();
        for (let at = 0; at < before; at += 1) other.idOf('failed', `reason ${at}`);
        const read = decodeResults(encodeResults(results, table), other);
        expect(read).toMatchObject({ lines: results.lines });
        expect(Array.from(read?.outcomes ?? [], (id) => other.get(id))).toEqual(
          Array.from(results.outcomes, (id) => table.get(id)),
        );
      },
    ),
  );
});

it('takes eight bytes an address, whatever is known of it', () => {
  const table = new OutcomeTable();
  const addresses = 10_000;
  const results = {
    lines: Uint32Array.from({ length: addresses }, (_, at) => at),
    outcomes: new Uint32Array(addresses).fill(table.idOf('no_result', 'no_record')),
  };
  expect(encodeResults(results, table).length).toBeLessThan(8 * addresses + 100);
});
