// The first of the three Transforms alone: rows become TXT files of unique addresses, one batch group each.
// npx tsx examples/rows-to-batches.ts <folder>
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { rowsToBatches, StreamPlan, type Parcel } from 'sluice';

const [folder = '.'] = process.argv.slice(2);
const rows = [
  { email: 'Ana@example.com', country: 'ES' },
  { email: 'ana@example.com ', country: 'es' },
  { email: 'joe@example.com', country: 'US' },
];

const plan = new StreamPlan({ email: ['email'], countryColumn: 'country' });
await pipeline(rows, rowsToBatches(plan), async (parcels: AsyncIterable<Parcel>) => {
  for await (const parcel of parcels) {
    if (parcel.kind !== 'batch') continue;
    const { group, addresses } = parcel.batch;
    const path = join(folder, `${group.type}-${group.country}.txt`);
    await writeFile(path, parcel.batch.open());
    console.log(`${group.type}-${group.country}.txt: ${addresses}`);
  }
});
