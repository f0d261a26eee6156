import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { expect, it } from 'vitest';
import type { Summary } from '../../src/index.js';
import { withFolder, withService } from '../service/with-service.js';
import { connectTo } from './connect-to.js';
import { runSluice } from './run-sluice.js';

const rows = 300_000;

/** Three lanes: emails of two countries, and numbers of one. Every tenth email stood there before. */
function row(index: number): string {
  const email = index % 10 === 9 ? index - 5 : index;
  const isBritish = index % 3 === 0;
  const mobile = isBritish ? '' : `+9990010${String(index).padStart(6, '0')}`;
  return `${index},"Müller, ""${index}""",good${email}@sluice.test,${mobile},${isBritish ? 'GB' : 'US'},\n`;
}

function* list(): Generator<string> {
  yield 'id,name,email,mobile,country,notes\n';
  for (let index = 0; index < rows; index += 1000) {
    yield Array.from({ length: 1000 }, (_, offset) => row(index + offset)).join('');
  }
}

function cellsOf(path: string): AsyncIterator<string[]> {
  const records: AsyncIterable<string[]> = createReadStream(path).pipe(parse());
  return records[Symbol.asyncIterator]();
}

it(
  'takes 300,000 rows of three lanes from file to file and pays for each address once',
  { timeout: 300_000 },
  async () => {
    const folder = await withFolder();
    const { service } = await withService();
    const [input, output] = [join(folder, 'list.csv'), join(folder, 'verified.csv')];
    await pipeline(Readable.from(list()), createWriteStream(input));

    const args = ['verify', input, '-o', output, '--email', 'email', '--phone', 'mobile'];
    const ended = await runSluice(
      [...args, '--country-column', 'country', '--summary', '-', '--quiet'].concat([
        '--poll-interval',
        '50',
      ]),
      { env: connectTo(service) },
    );

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [before, after] = [cellsOf(input), cellsOf(output)];
    let read = -1;
    for (;;) {
      const [one, other] = [await before.next(), await after.next()];
      if (one.done === true || other.done === true) {
        expect(one.done).toBe(other.done);
        break;
      }
      read += 1;
      const kept = other.value.slice(0, one.value.length);
      // Not by expect: half a million of them cost a minute.
      if (kept.join('\0') !== one.value.join('\0')) expect(kept).toEqual(one.value);
    }
    expect(read).toBe(rows);

    const summary = JSON.parse(ended.stdout.toString()) as Summary;
    expect(summary.rows).toBe(rows);
    expect(new Set(summary.batches.map(({ type, country }) => `${type} ${country}`))).toEqual(
      new Set(['email US', 'email GB', 'phone US']),
    );
    const lanes = new Map(summary.batches.map((batch) => [batch.batch_uuid, batch]));
    const paid = new Set<string>();
    let charges = 0;
    for await (const { batch_uuid, address } of service.ledger()) {
      charges += 1;
      const lane = lanes.get(batch_uuid);
      paid.add(`${lane?.type ?? 'no batch'} ${lane?.country ?? ''} ${address}`);
    }
    expect(paid.size).toBe(charges);
    expect(charges).toBe((summary.email?.addresses ?? 0) + (summary.phone?.addresses ?? 0));
    expect(summary.email?.buckets).toEqual({
      verified: rows,
      not_submitted: 0,
      no_result: 0,
      failed: 0,
    });
    expect(summary.phone?.buckets.verified).toBe(rows - rows / 3);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'verified.csv']);
    expect((await readFile(output)).subarray(-1).toString()).toBe('\n');
  },
);
