// Lists as jobs of pg-boss, a queue in PostgreSQL.
//   npx tsx pg-boss.ts                             works on jobs until SIGTERM, on as many machines as you like
//   npx tsx pg-boss.ts contacts.csv verified.csv 4 has a list verified, by four of them together
// A job whose worker died is handed out again when it expires. The worker may only have been slow: then
// both work on the same run, and no address is paid for twice.
import PgBoss from 'pg-boss';
import { Client, isSluiceError, run } from 'sluice';
import { postgresStore } from 'sluice/postgres';

interface List {
  readonly name: string;
  readonly source: string;
  readonly sink: string;
}

const { SLUICE_STORE: connectionString = '' } = process.env;
const { SLUICE_BASE_URL: baseUrl = '', SLUICE_API_KEY: apiKey = '' } = process.env;
const [source, sink, processes = '1'] = process.argv.slice(2);

const boss = new PgBoss(connectionString);
boss.on('error', console.error);
await boss.start();
const retries = { retryLimit: 20, retryDelay: 30, expireInHours: 4 };
await boss.createQueue('lists', { name: 'lists', policy: 'standard', ...retries });

if (source !== undefined && sink !== undefined) {
  // The name is the run: a list that is asked for twice a day is verified once.
  const name = `${source} ${new Date().toISOString().slice(0, 10)}`;
  for (let sent = 0; sent < Number(processes); sent += 1) {
    await boss.send('lists', { name, source, sink }, retries);
  }
  await boss.stop();
} else {
  const client = new Client({ baseUrl, apiKey });
  const stopping = new AbortController();
  await boss.work<List>('lists', async ([job]) => {
    if (!job) return;
    const { name, ...ends } = job.data;
    try {
      const { rows } = await run({
        ...ends,
        store: postgresStore({ connectionString, run: name }),
        client,
        email: ['email'],
        country: 'US',
        signal: stopping.signal,
      });
      console.log(`${name}: ${rows} rows`);
    } catch (error) {
      if (!isSluiceError(error) || error.retryable) throw error;
      // Another try would end the same way. Afterwards: boss.resume('lists', id)
      console.error(`${name}: ${error.message}`);
      await boss.cancel('lists', job.id);
    }
  });
  process.once('SIGTERM', () => {
    // Batches are handed on at once; pg-boss hands the job to another.
    stopping.abort();
    void boss.stop().then(async () => client.close());
  });
}
