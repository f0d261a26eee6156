// The second Transform alone: TXT batches of your own go through the service, exports come back.
// npx tsx examples/drive-batches.ts
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Client, driveBatches, type Batch, type Parcel } from 'sluice';
import { createService } from 'sluice/service';

const text = Buffer.from('good@sluice.test\nbad@sluice.test\n');
const batch: Batch = {
  id: 0,
  group: { type: 'email', country: 'US' },
  addresses: 2,
  sizeBytes: text.length,
  checksum: 0,
  open: () => [text],
};

const service = await createService();
const client = new Client(service);
async function printResults(parcels: AsyncIterable<Parcel>): Promise<void> {
  for await (const parcel of parcels) {
    if (parcel.kind !== 'settled' || !('results' in parcel.ending)) continue;
    const { results } = parcel.ending;
    if (typeof results !== 'function') continue;
    const json = await buffer(await results());
    for (const [address, record] of Object.entries(JSON.parse(json.toString()) as object)) {
      console.log(address, record);
    }
  }
}

try {
  const parcels: Parcel[] = [{ kind: 'batch', batch }];
  await pipeline(parcels, driveBatches({ client, pollIntervalMs: 20 }), printResults);
} finally {
  await client.close();
  await service.close();
}
