// Rows of a cursor of your own, in a transaction of your own: they are read as batches have room, never all at once. The
// URL of a PostgreSQL with a table of contacts is the first argument.
// npm install pg pg-query-stream
import { Client as Database } from 'pg';
import QueryStream from 'pg-query-stream';
import { Client, verifyRows } from 'sluice';
import { createService } from 'sluice/service';

interface Contact {
  readonly id: number;
  readonly email: string | null;
}

const [connectionString] = process.argv.slice(2);
const service = await createService();
const client = new Client(service);
const database = new Database({ connectionString });
await database.connect();
try {
  await database.query('BEGIN READ ONLY');
  const cursor: AsyncIterable<Contact> = database.query(
    new QueryStream('SELECT id, email FROM contacts ORDER BY id', [], { batchSize: 1000 }),
  );
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 20 } as const;
  for await (const { id, email_valid } of verifyRows(cursor, options)) {
    if (email_valid === false) console.log(id);
  }
  // The loop has closed the cursor, also where it was left early: its connection is free.
  await database.query('COMMIT');
} finally {
  await database.end();
  await client.close();
  await service.close();
}
