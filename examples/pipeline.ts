// Verify a list inside a Node.js job: csv-parse before it, csv-stringify after it, the local service.
// npx tsx examples/pipeline.ts <input.csv> <output.csv>
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { Client, verify } from 'sluice';
import { createService } from 'sluice/service';

const beside = new URL('contacts.csv', import.meta.url);
const [input = beside, output = 'verified.csv'] = process.argv.slice(2);

const service = await createService();
const client = new Client(service);
try {
  await pipeline(
    createReadStream(input),
    parse({ columns: true, bom: true }),
    verify({
      client,
      email: ['email'],
      phone: ['mobile'],
      countryColumn: 'country',
      country: 'US',
      pollIntervalMs: 20,
    }),
    stringify({ header: true, cast: { boolean: String } }),
    createWriteStream(output),
  );
} finally {
  await client.close();
  await service.close();
}
