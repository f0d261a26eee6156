// A loader: rows of a generator into a table, by key. Tries that may succeed later are repeated.
// npx tsx examples/loader.ts <database file>
import { setTimeout as wait } from 'node:timers/promises';
import { Client, isSluiceError, ProgressFigures, run, type Summary } from 'sluice';
import { createService } from 'sluice/service';
import { sqliteSink } from 'sluice/sqlite';

const [file = 'crm.db'] = process.argv.slice(2);

/** The pages of your API. A generator can be read once, so each try makes one. */
async function* contacts() {
  for (let id = 1; id <= 500; id += 1) {
    yield { id, email: `good+${id}@sluice.test`, country: id % 2 ? 'US' : 'DE' };
  }
}

async function load(client: Client): Promise<Summary> {
  const figures = new ProgressFigures();
  const timer = setInterval(() => {
    const { addressesDone, addressesToSend } = figures.now();
    console.error(`${addressesDone} of ${addressesToSend ?? '?'} addresses`); // 430 of 3000 addresses
  }, 10_000);
  try {
    return await run({
      source: contacts(),
      sink: sqliteSink({ url: `sqlite:${file}`, into: 'contacts', key: 'id' }),
      stateDir: `${file}.sluice`,
      client,
      email: ['email'],
      countryColumn: 'country',
      maxCredits: 10_000,
      pollIntervalMs: 20,
      onProgress: (progress) => figures.note(progress),
    });
  } finally {
    clearInterval(timer);
  }
}

/** The same call resumes, and pays for nothing twice. What needs a person is not repeated. */
async function withRetries<Result>(job: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await job();
    } catch (error) {
      if (!mayPass(error) || attempt === 5) throw error;
      await wait(60_000 * 2 ** (attempt - 1));
    }
  }
}

function mayPass(error: unknown): boolean {
  if (!isSluiceError(error)) return false;
  // What the generator or the table throws: the API or the database may be back later.
  return error.retryable || error.code === 'input_unreadable' || error.code === 'output_failed';
}

const service = await createService();
const client = new Client(service);
try {
  const { rows, email } = await withRetries(() => load(client));
  console.log(`${rows} rows, ${email?.verdicts.valid} valid`);
} finally {
  await client.close();
  await service.close();
}
