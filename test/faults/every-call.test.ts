// First: it puts itself in front of the calls of the file system.
import { watchCalls } from './failing-calls.js';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Client, fileSink, fileSource, isSluiceError, run } from '../../src/index.js';
import { createService, type Service } from '../../src/service/index.js';
import { drawnPart } from './drawn-part.js';

const codes = ['ENOSPC', 'EIO', 'EMFILE'] as const;
const apiKey = 'a-key';
const input = [
  'id,email',
  ...Array.from({ length: 6 }, (_, index) => `${index},good${index}@sluice.test`),
  '7,',
  '',
].join('\n');
const addresses = 6;

/** One call that fails: which of a run, and with what. */
interface CallCase {
  readonly at: number;
  readonly call: string;
  readonly code: (typeof codes)[number];
}

/** A folder with an input, and a service that runs are made with, over and over. */
class Place {
  readonly folder: string;
  readonly #service: Service;
  readonly #client: Client;

  private constructor(folder: string, service: Service) {
    this.folder = folder;
    this.#service = service;
    this.#client = new Client({ baseUrl: service.baseUrl, apiKey });
  }

  static async make(): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-calls-'));
    await writeFile(join(folder, 'list.csv'), input);
    return new Place(folder, await createService({ apiKey }));
  }

  async verify(): Promise<void> {
    await run({
      source: fileSource(join(this.folder, 'list.csv')),
      sink: fileSink(join(this.folder, 'out.csv')),
      client: this.#client,
      stateDir: join(this.folder, 'run'),
      email: ['email'],
      country: 'US',
      batchSize: 3,
      // One at a time: the calls come in the same order each time.
      concurrency: 1,
      pollIntervalMs: 1,
    });
  }

  async output(): Promise<string> {
    return readFile(join(this.folder, 'out.csv'), 'utf8');
  }

  async charges(): Promise<number> {
    let charges = 0;
    for await (const charge of this.#service.ledger()) charges += charge.address === '' ? 0 : 1;
    return charges;
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#service.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

it('goes on and pays once, whichever call on the disk fails, source and output included', async () => {
  const place = await Place.make();
  try {
    const calls: string[] = [];
    await watchCalls(
      place.folder,
      (call) => void calls.push(call),
      async () => place.verify(),
    );
    const output = await place.output();
    const cases = calls.flatMap((call, at) => codes.map((code): CallCase => ({ at, call, code })));
    expect(cases.length).toBeGreaterThan(240);
    const troubles: string[] = [];
    const drawn = drawnPart(cases, (each) => each.at * codes.length + codes.indexOf(each.code));
    for (const each of drawn) {
      let trouble = await troubleOf(each, place, output);
      // The number of polls, and so of the calls, is not always the same.
      for (let tries = 1; trouble === notMade && tries < mostTries; tries += 1) {
        trouble = await troubleOf(each, place, output);
      }
      if (trouble !== undefined) {
        troubles.push(`${each.code} at call ${each.at + 1} (${each.call}): ${trouble}`);
      }
    }
    console.log(`${drawn.length} of ${cases.length} calls on the disk failed, one in each run`);
    expect(troubles).toEqual([]);
  } finally {
    await place.close();
  }
});

async function troubleOf(
  { at, code }: CallCase,
  place: Place,
  expected: string,
): Promise<string | undefined> {
  await rm(join(place.folder, 'out.csv'), { force: true });
  const before = await place.charges();
  let made = 0;
  const failOnce = (): void => {
    made += 1;
    if (made === at + 1) throw systemError(code);
  };
  try {
    await watchCalls(place.folder, failOnce, async () => place.verify());
  } catch (error) {
    if (!isSluiceError(error)) return `no error of ours: ${String(error)}`;
    // The same call again, and nothing fails any more.
    await place.verify();
  }
  if (made <= at) return notMade;
  const output = await place.output();
  if (output !== expected) return `the output is another: ${output}`;
  const charged = (await place.charges()) - before;
  if (charged !== addresses) return `${charged} charges for ${addresses} addresses`;
  const left = (await readdir(place.folder)).filter((name) => !ownNames.includes(name));
  return left.length === 0 ? undefined : `${left.join(', ')} is left`;
}

const notMade = 'the call was not made';
const mostTries = 5;

/** An empty directory is no harm: the next run takes it as it is. */
const ownNames = ['list.csv', 'out.csv', 'run'];

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code, syscall: 'write', errno: -1 });
}
