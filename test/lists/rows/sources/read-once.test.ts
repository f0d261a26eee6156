import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import { rowsSource, type RowsInput } from '../../../../src/lists/rows/sources/rows-source.js';
import { estimateRun } from '../../../../src/engine/runs/estimate.js';
import type { SourceInput } from '../../../../src/engine/runs/options/source-and-sink.js';
import { run } from '../../../../src/engine/runs/run.js';
import { verifyRows } from '../../../../src/engine/streams/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withClient } from '../../../engine/streams/harness/with-client.js';
import { copyRows, readCopiedRows } from '../../../../src/lists/rows/sources/read-once.js';
import { StateDirectory } from '../../../../src/engine/stores/directory/state-directory.js';
import { systemFiles } from '../../../../src/platform/files/file-system.js';
import {
  createDisk,
  durableText,
  memoryFiles,
  textOf,
} from '../../../trials/simulation/memory/memory-files.js';
import { Random } from '../../../trials/simulation/random.js';
import { Life, World } from '../../../trials/simulation/world.js';

const people = (count: number): { email: string }[] =>
  Array.from({ length: count }, (_, id) => ({ email: `good+${id}@sluice.test` }));
const columns = { email: ['email'], country: 'US' } as const;
const refused = { code: 'input_unreadable' };

/** Pages of a server that breaks once, behind so many rows, and goes on where it was. */
function pages(count: number, breaksBehind: number): AsyncIterable<object> {
  let given = 0;
  let isBroken = false;
  const iterator = {
    async next(): Promise<IteratorResult<object, undefined>> {
      if (given === breaksBehind && !isBroken) {
        isBroken = true;
        throw new Error('ECONNRESET');
      }
      if (given === count) return { done: true, value: undefined };
      given += 1;
      return { done: false, value: { email: `good+${given}@sluice.test` } };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

interface Changes {
  readonly sink?: string;
  readonly limit?: number;
  readonly maxCredits?: number;
}

async function begin(): Promise<{
  readonly output: string;
  readonly once: (source: SourceInput, changes?: Changes) => Promise<number>;
  readonly charges: () => Promise<number>;
}> {
  const output = join(await withFolder(), 'out.csv');
  const { client, service } = await withClient();
  return {
    output,
    once: async (source, changes = {}) => {
      const stateDir = `${changes.sink ?? output}.sluice`;
      const how = { client, sink: output, stateDir, batchSize: 5, pollIntervalMs: 1, ...columns };
      return (await run({ ...how, source, ...changes })).rows;
    },
    charges: async () => (await chargesOf(service)).length,
  };
}

describe('a source that can be read once', () => {
  it('is not read on from where an error has stopped it', async () => {
    const { once, charges } = await begin();
    const source = pages(100, 70);
    await expect(once(source)).rejects.toThrow('ECONNRESET');
    await expect(once(source)).rejects.toMatchObject(refused);
    await expect(once(rowsSource(source, { header: ['email'] }))).rejects.toMatchObject(refused);
    expect(await charges()).toBe(0);
  });

  it.each<[string, () => RowsInput]>([
    ['a generator', () => people(9).values()],
    ['a stream', () => Readable.from(people(9))],
    ['a web stream', () => ReadableStream.from(people(9))],
  ])('is refused a second time, and the good output stays: %s', async (_, make) => {
    const { output, once } = await begin();
    const rows = make();
    const source = rowsSource(rows, { header: ['email'] });
    expect(await once(source)).toBe(9);
    const written = await readFile(output, 'utf8');
    await expect(once(source)).rejects.toMatchObject(refused);
    await expect(once(rows)).rejects.toMatchObject(refused);
    await expect(estimateRun({ source, ...columns })).rejects.toMatchObject(refused);
    expect(await readFile(output, 'utf8')).toBe(written);
  });

  it('is refused after an estimate, a trial or a loop has begun it', async () => {
    const { once } = await begin();
    const { client } = await withClient();
    const [estimated, tried, looped] = [people(9).values(), people(9).values(), people(9).values()];
    await estimateRun({ source: estimated, ...columns });
    await expect(once(estimated)).rejects.toMatchObject(refused);
    expect(await once(tried, { limit: 2 })).toBe(2);
    await expect(once(tried)).rejects.toMatchObject(refused);
    for await (const _ of verifyRows(looped, { client, ...columns })) break;
    await expect(once(looped)).rejects.toMatchObject(refused);
    const again = async (): Promise<void> => {
      for await (const _ of verifyRows(looped, { client, ...columns })) break;
    };
    await expect(again()).rejects.toMatchObject(refused);
  });

  it('is taken again by the run that has all of it on disk, and by no other', async () => {
    const { once, charges } = await begin();
    const source = people(12).values();
    await expect(once(source, { maxCredits: 5 })).rejects.toMatchObject({
      code: 'budget_exhausted',
    });
    await expect(once(source, { limit: 3 })).rejects.toMatchObject(refused);
    const elsewhere = join(await withFolder(), 'other.csv');
    await expect(once(source, { sink: elsewhere })).rejects.toMatchObject(refused);
    expect(await once(source)).toBe(12);
    expect(await charges()).toBe(12);
    await expect(once(source)).rejects.toMatchObject(refused);
  });

  it('is not meant where each loop begins at the first row', async () => {
    const { once } = await begin();
    for (const source of [people(3), new Set(people(3))]) {
      expect(await once(source)).toBe(3);
      expect(await once(source)).toBe(3);
    }
  });
});

it('one object for all rows is refused before anything is sent', async () => {
  const { once, charges } = await begin();
  const one = { email: '' };
  function* rows(): Generator<{ email: string }> {
    for (const { email } of people(9)) {
      one.email = email;
      yield one;
    }
  }
  const named = { code: 'invalid_option', message: expect.stringMatching(/\b2\b/) as string };
  await expect(once(rows())).rejects.toMatchObject(named);
  await expect(estimateRun({ source: rows(), ...columns })).rejects.toMatchObject(named);
  expect(await charges()).toBe(0);
  expect(await once([one, one])).toBe(2);
});

const path = '/disk/out/input';

async function* rows(): AsyncGenerator<Record<string, unknown>> {
  for (let id = 0; id < 1500; id += 1) yield { id, email: `user${id}@example.com` };
}

describe('rows that are kept', () => {
  it('outlast a power cut from the moment they are kept, whatever it leaves of the rest', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = new Random(seed);
      const disk = createDisk();
      const life = new Life(new World(random), 1, () => undefined);
      life.pass = async () => undefined;
      const files = memoryFiles(disk, life, () => undefined);
      await copyRows(path, rows(), 'the rows', { files });
      const whole = textOf(disk, path);
      expect(whole?.length).toBeGreaterThan(40_000);
      expect(durableText(disk, path)).toBe(whole);
      disk.root.crash(random);
      expect(textOf(disk, path)).toBe(whole);
    }
  });

  it('have their name when they are whole, or not at all', async () => {
    const folder = await withFolder();
    const cut = async function* (): AsyncGenerator<object> {
      yield* rows();
      throw new Error('cut off');
    };
    const kept = join(folder, 'input');
    await expect(copyRows(kept, cut(), 'the rows')).rejects.toMatchObject({
      code: 'input_unreadable',
    });
    expect(await readdir(folder)).not.toContain('input');
    await copyRows(kept, rows(), 'the rows');
    const read: unknown[] = [];
    for await (const row of readCopiedRows(kept, 'the rows').rows) read.push(row);
    expect(read).toHaveLength(1500);
    await expect(copyRows(join(folder, 'none', 'input'), rows(), 'the rows')).rejects.toMatchObject(
      { code: 'output_failed', message: expect.stringContaining('the rows') as string },
    );
  });

  it('that were cut off by a kill do not make the state directory somebody else’s', async () => {
    const stateDir = join(await withFolder(), 'run');
    await (await StateDirectory.open(systemFiles, stateDir, { fresh: false })).close();
    for (const left of ['input.part', 'input.again.part', 'input.partial']) {
      await writeFile(join(stateDir, left), 'half');
    }
    const state = await StateDirectory.open(systemFiles, stateDir, { fresh: false });
    await rowsSource(rows()).keep?.(state.inputPath, new AbortController().signal);
    await state.close();
    expect(await readdir(stateDir)).toContain('input');
  });
});
