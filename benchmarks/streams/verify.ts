import { createHash } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Row } from '../../src/lists/rows/chunks/object-chunk.js';
import { verify } from '../../src/engine/streams/verify.js';
import { recordFields } from '../../src/contract/records.js';
import { contactColumns, contactRows, contactsFile, usualContacts } from '../data/contacts.js';
import type { Question, Scale } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { copyCsv } from '../peers/copy-csv.js';
import { syntheticRecord } from '../reference/synthetic-results.js';
import { createMemoryService } from './memory-service.js';
import { hashOfFile } from '../data/cached-file.js';
import { join } from 'node:path';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** Row objects in, enriched row objects out; the service is in memory, and its time counts too. */
export const verifyDuplex: Question = {
  asks: 'How long does the Duplex `verify()` take for row objects?',
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    reference: {
      checkedAs: 'rows',
      isReference: true,
      async run(scale) {
        const digest = createDigest();
        for (const row of rowsOf(scale)) {
          const record = syntheticRecord(row['email'] ?? '');
          const added = recordFields.email.map((field) => [`email_${field}`, record[field]]);
          digest.add({
            ...row,
            email_verification: 'verified',
            email_reason: '',
            ...(Object.fromEntries(added) as Row),
          });
        }
        return { check: digest.toString(), values: {} };
      },
    },
    sluice: {
      checkedAs: 'rows',
      async run(scale) {
        // What stands in front of it in a pipeline has made its rows by then.
        const rows = [...rowsOf(scale)];
        globalThis.gc?.();
        let count = 0;
        const { seconds } = await timed(async () => verifyAll(rows, () => (count += 1)));
        if (count !== rows.length) throw new Error(`${count} rows came out`);
        const digest = createDigest();
        await verifyAll(rows, (row) => digest.add(row));
        return { check: digest.toString(), values: { seconds } };
      },
    },
    'csv-parse and csv-stringify': {
      checkedAs: 'copy',
      run: async (scale) =>
        withScratch(async (folder) => {
          const output = join(folder, 'output.csv');
          const { seconds } = await timed(async () => copyCsv(await input(scale), output));
          return { check: await hashOfFile(output), values: { seconds } };
        }),
    },
  },
  figures: (median) => [
    {
      what: 'the Duplex `verify()` with row objects, transport in memory',
      against: 'csv-parse to objects into csv-stringify',
      value: median('csv-parse and csv-stringify', 'seconds') / median('sluice', 'seconds'),
      unit: 'times as fast',
      target: { bound: 'at least', value: 2.5, aim: 3 },
    },
  ],
};

async function verifyAll(rows: readonly Row[], onRow: (row: Row) => void): Promise<void> {
  await pipeline(
    Readable.from(rows),
    verify({ client: createMemoryService(), email: ['email'], country: 'US' }),
    new Writable({
      objectMode: true,
      write(row: Row, _encoding, done) {
        onRow(row);
        done();
      },
    }),
  );
}

function* rowsOf({ rows }: Scale): Generator<Record<string, string>> {
  for (const cells of contactRows(usualContacts(rows))) {
    yield Object.fromEntries(contactColumns.map((column, at) => [column, cells[at] ?? '']));
  }
}

function createDigest(): { add(row: Row): void; toString(): string } {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add(row) {
      rows += 1;
      hash.update(`${JSON.stringify(row)}\n`);
    },
    toString: () => `${rows} ${hash.digest('hex')}`,
  };
}
