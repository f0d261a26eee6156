// Rows from any iterable, results in a loop. Addresses under sluice.test give the verdict they name.
// npx tsx examples/async-iteration.ts
import { Client, verifyRows } from 'sluice';
import { createService } from 'sluice/service';

const rows = [
  { id: 1, email: 'good@sluice.test' },
  { id: 2, email: 'bad@sluice.test' },
  { id: 3, email: '' },
];

const service = await createService();
const client = new Client(service);
try {
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 20 } as const;
  for await (const row of verifyRows(rows, options)) {
    console.log(row.id, row.email_verification, row.email_quality ?? row.email_reason);
  }
} finally {
  await client.close();
  await service.close();
}
