// With steps of your own before and after: rows are tidied up and verified, and those whose address is
// not wrong are written. npx tsx examples/etl.ts <input.csv> <output.jsonl>
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { Client, verifyRows, type Row } from 'sluice';
import { createService } from 'sluice/service';

const beside = new URL('contacts.csv', import.meta.url);
const [input = beside, output = 'letters.jsonl'] = process.argv.slice(2);
const counts = { in: 0, out: 0 };

async function* tidy(rows: AsyncIterable<Row>) {
  for await (const row of rows) {
    counts.in += 1;
    yield { id: row['id'], name: row['first_name'], email: String(row['email']).toLowerCase() };
  }
}

async function* letters(rows: AsyncIterable<Row>) {
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 20 } as const;
  for await (const row of verifyRows(tidy(rows), options)) {
    if (row.email_verification !== 'verified' || row.email_wrong === true) continue;
    if (row.email_is_disposable === true) continue;
    counts.out += 1;
    yield `${JSON.stringify({ id: row.id, name: row.name, email: row.email })}\n`;
  }
}

const service = await createService();
const client = new Client(service);
try {
  await pipeline(
    createReadStream(input),
    parse({ columns: true, bom: true }),
    letters,
    createWriteStream(output),
  );
  console.log(`${counts.in} rows in, ${counts.out} out`);
} finally {
  await client.close();
  await service.close();
}
