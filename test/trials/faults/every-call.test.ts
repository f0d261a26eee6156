// First: it puts itself in front of the calls of the file system.
import { watchCalls } from './failing-calls.js';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Client, fileSink, fileSource, isSluiceError, run } from '../../../src/index.js';
import { createService, type Service } from '../../../src/service/index.js';
import { drawnPart, isFixed } from './drawn-part.js';
import { systemError } from '../../engine/runs/watched-files.js';

const codes = ['ENOSPC', 'EIO', 'EMFILE'] as const;
const apiKey = 'a-key';
const input = [
  'id,email',
  ...Array.from({ length: 6 }, (_, index) => `${index},good${index}@sluice.test`),
  '7,',
  '',
].join('\n');
const addresses = 6;

/** One call that fails: which of those of its name in a run, from 1, and with what. */
interface CallCase {
  readonly call: string;
  readonly nth: number;
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

  /** How many calls of each name an undisturbed run makes, the names in an order of their own. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const calls: string[] = [];
    await watchCalls(
      this.folder,
      (call) => void calls.push(call),
      async () => this.verify(),
    );
    const counts = new Map<string, number>();
    for (const call of calls.toSorted()) counts.set(call, (counts.get(call) ?? 0) + 1);
    return counts;
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
    const counts = await place.counts();
    const output = await place.output();
    const cases = isFixed ? fixedCases(counts) : allCases(counts);
    const planned = drawnPart(cases, (each) => cases.indexOf(each));
    const troubles: string[] = [];
    for (const each of planned) {
      const trouble = await troubleOf(each, place, output);
      if (trouble !== undefined) {
        troubles.push(`${each.code} at call ${each.nth} of ${each.call}: ${trouble}`);
      }
    }
    console.log(`${planned.length} of ${cases.length} calls on the disk failed, one in each run`);
    expect(troubles).toEqual([]);
  } finally {
    await place.close();
  }
});

function allCases(counts: ReadonlyMap<string, number>): readonly CallCase[] {
  return [...counts].flatMap(([call, count]) =>
    Array.from({ length: count }, (_, index) =>
      codes.map((code) => ({ call, nth: index + 1, code })),
    ).flat(),
  );
}

/**
 * The cases that decide whether a change lands: the first call of every name, with one code after the other, and
 * every code at every kind of call.
 */
function fixedCases(counts: ReadonlyMap<string, number>): readonly CallCase[] {
  const names = [...counts.keys()];
  const kinds = names.map((call) => call.split(' ')[0]);
  return names.flatMap((call, at) => {
    const isNewKind = kinds.indexOf(kinds[at]) === at;
    const chosen = isNewKind ? codes : [codes[at % codes.length] ?? codes[0]];
    return chosen.map((code) => ({ call, nth: 1, code }));
  });
}

async function troubleOf(
  { call, nth, code }: CallCase,
  place: Place,
  expected: string,
): Promise<string | undefined> {
  await rm(join(place.folder, 'out.csv'), { force: true });
  const before = await place.charges();
  let made = 0;
  const failOnce = (name: string): void => {
    if (name !== call) return;
    made += 1;
    if (made === nth) throw systemError(code);
  };
  try {
    await watchCalls(place.folder, failOnce, async () => place.verify());
  } catch (error) {
    if (!isSluiceError(error)) return `no error of ours: ${String(error)}`;
    // The same call again, and nothing fails any more.
    await place.verify();
  }
  if (made < nth) return 'the call was not made';
  const output = await place.output();
  if (output !== expected) return `the output is another: ${output}`;
  const charged = (await place.charges()) - before;
  if (charged !== addresses) return `${charged} charges for ${addresses} addresses`;
  const left = (await readdir(place.folder)).filter((name) => !ownNames.includes(name));
  return left.length === 0 ? undefined : `${left.join(', ')} is left`;
}

/** An empty directory is no harm: the next run takes it as it is. */
const ownNames = ['list.csv', 'out.csv', 'run'];
