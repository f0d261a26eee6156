// With steps of your own before and after: rows are tidied up and verified, and those whose address is
// not wrong are written. node examples/etl.ts <input.csv> <output.jsonl>
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { Client, verify, type Row } from 'sluice';
import { createService } from 'sluice/service';

const [input = 'examples/contacts.csv', output = 'letters.jsonl'] = process.argv.slice(2);

/** A Transform of rows: one in, one or none out. */
function mapRows(map: (row: Row) => object | undefined): Transform {
  return new Transform({
    objectMode: true,
    transform(row: Row, _encoding, done) {
      const mapped = map(row);
      if (mapped) this.push(mapped);
      done();
    },
  });
}

const counts = { in: 0, out: 0 };
const tidy = mapRows((row) => {
  counts.in += 1;
  return { id: row['id'], name: row['first_name'], email: String(row['email']).toLowerCase() };
});
const keepLikely = mapRows((row) => {
  if (row['email_verification'] !== 'verified' || row['email_wrong'] === true) return undefined;
  if (row['email_is_disposable'] === true) return undefined;
  counts.out += 1;
  return { id: row['id'], name: row['name'], email: row['email'] };
});
const toLines = new Transform({
  writableObjectMode: true,
  transform(row, _encoding, done) {
    done(null, `${JSON.stringify(row)}\n`);
  },
});

const service = await createService();
const client = new Client({ baseUrl: service.baseUrl, apiKey: service.apiKey });
try {
  await pipeline(
    createReadStream(input),
    parse({ columns: true, bom: true }),
    tidy,
    verify({ client, email: ['email'], country: 'US', pollIntervalMs: 20 }),
    keepLikely,
    toLines,
    createWriteStream(output),
  );
  console.log(`${counts.in} rows in, ${counts.out} out`);
} finally {
  await client.close();
  await service.close();
}
