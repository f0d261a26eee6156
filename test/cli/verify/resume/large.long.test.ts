import { createWriteStream } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { connectTo } from '../../harness/connect-to.js';
import { runSluice } from '../../harness/run-sluice.js';

const rows = 300_000;

/** Three batch groups: emails of two countries, and numbers of one. Every tenth email stood there before. */
function row(index: number): string {
  const email = index % 10 === 9 ? index - 5 : index;
  const isBritish = index % 3 === 0;
  const mobile = index % 3 === 1 ? `+9990010${String(index).padStart(6, '0')}` : '';
  return `${index},"Müller, ""${index}""",good${email}@sluice.test,${mobile},${isBritish ? 'GB' : 'US'},\n`;
}

function* list(): Generator<string> {
  yield 'id,name,email,mobile,country,notes\n';
  for (let index = 0; index < rows; index += 1000) {
    yield Array.from({ length: 1000 }, (_, offset) => row(index + offset)).join('');
  }
}

/** Each row with the bytes of its own, and nothing but cells behind them. */
function expectRowsKept(input: Buffer, output: Buffer): void {
  let [at, row] = [0, -1];
  for (let start = 0; start < input.length; row += 1) {
    const end = input.indexOf('\n', start);
    const bytes = input.subarray(start, end);
    const kept = output.subarray(at, at + bytes.length);
    // Not by expect: so many of them cost more than the run.
    if (!kept.equals(bytes) || output[at + bytes.length] !== 0x2c) {
      expect(kept.toString(), `row ${row}`).toBe(`${bytes.toString()},`);
    }
    at = output.indexOf('\n', at + bytes.length) + 1;
    start = end + 1;
  }
  expect(row).toBe(rows);
  expect(at).toBe(output.length);
}

it(
  'takes 300,000 rows of three batch groups from file to file and pays for each address once',
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
    expectRowsKept(await readFile(input), await readFile(output));

    const summary = JSON.parse(ended.stdout.toString()) as Summary;
    expect(summary.rows).toBe(rows);
    expect(new Set(summary.batches.map(({ type, country }) => `${type} ${country}`))).toEqual(
      new Set(['email US', 'email GB', 'phone US']),
    );
    const groups = new Map(summary.batches.map((batch) => [batch.batch_uuid, batch]));
    const paid = new Set<string>();
    let charges = 0;
    for await (const { batch_uuid, address } of service.ledger()) {
      charges += 1;
      const group = groups.get(batch_uuid);
      paid.add(`${group?.type ?? 'no batch'} ${group?.country ?? ''} ${address}`);
    }
    expect(paid.size).toBe(charges);
    expect(charges).toBe((summary.email?.addresses ?? 0) + (summary.phone?.addresses ?? 0));
    expect(summary.email?.buckets).toEqual({
      verified: rows,
      not_submitted: 0,
      no_result: 0,
      failed: 0,
    });
    expect(summary.phone?.buckets.verified).toBe(rows / 3);
    expect((await readdir(folder)).toSorted()).toEqual(['list.csv', 'verified.csv']);
  },
);
