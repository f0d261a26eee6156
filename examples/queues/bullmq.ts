// Lists as jobs of BullMQ, a queue in Redis; the runs themselves are in PostgreSQL.
//   npx tsx bullmq.ts                             works on jobs until SIGTERM, on as many machines as you like
//   npx tsx bullmq.ts contacts.csv verified.csv 4 has a list verified, by four of them together
// A job whose worker shows no sign of life is handed out again. The worker may only have been slow: then
// both work on the same run, and no address is paid for twice. The same when Redis has lost its last second.
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { Client, isSluiceError, run } from 'sluice';
import { postgresStore } from 'sluice/postgres';

interface List {
  readonly name: string;
  readonly source: string;
  readonly sink: string;
}

const { REDIS_URL: url = '', SLUICE_STORE: connectionString = '' } = process.env;
const { SLUICE_BASE_URL: baseUrl = '', SLUICE_API_KEY: apiKey = '' } = process.env;
const [source, sink, processes = '1'] = process.argv.slice(2);

if (source !== undefined && sink !== undefined) {
  const queue = new Queue<List>('lists', { connection: { url } });
  // The name is the run: a list that is asked for twice a day is verified once.
  const name = `${source} ${new Date().toISOString().slice(0, 10)}`;
  for (let sent = 0; sent < Number(processes); sent += 1) {
    const retries = { attempts: 20, backoff: { type: 'fixed', delay: 30_000 } };
    await queue.add('verify', { name, source, sink }, retries);
  }
  await queue.close();
} else {
  const client = new Client({ baseUrl, apiKey });
  const stopping = new AbortController();
  const verify = async ({ name, ...ends }: List): Promise<void> => {
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
      // Another try would end the same way.
      throw new UnrecoverableError(`${name}: ${error.message}`);
    }
  };
  const worker = new Worker<List>('lists', async ({ data }) => verify(data), {
    connection: { url },
    maxStalledCount: 20,
  });
  worker.on('error', console.error);
  worker.on('failed', (_job, error) => console.error(error.message));
  process.once('SIGTERM', () => {
    // Batches are handed on at once; BullMQ hands the job to another.
    stopping.abort();
    void worker.close().then(async () => client.close());
  });
}
