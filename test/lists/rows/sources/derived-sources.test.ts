import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunSettings } from '../../../../src/engine/runs/options/run-options.js';
import {
  type Client,
  combinedSource,
  fileSink,
  fileSource,
  rowsSink,
  rowsSource,
  run,
  type Source,
  type Summary,
} from '../../../../src/index.js';
import { limitedSource } from '../../../../src/lists/rows/sources/derived-sources.js';
import type { Service } from '../../../../src/service/index.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withClient } from '../../../engine/streams/harness/with-client.js';
import { withFolder } from '../../../service/with-service.js';
import { textsOf } from '../read-rows.js';

const people = Array.from({ length: 100 }, (_, id) => ({
  id,
  email: `${id < 50 ? 'good' : 'bad'}${id}@sluice.test`,
}));

let client: Client;
let service: Service;

beforeEach(async () => {
  ({ client, service } = await withClient());
});

async function charged(): Promise<number> {
  return (await chargesOf(service)).length;
}

/** Rows of a source of one's own, by its reading: its bytes are not seen. */
function ownSource(rowsOf: (reading: number) => readonly object[], name = 'own'): Source {
  let readings = 0;
  return { name, open: async (opening) => rowsSource(rowsOf((readings += 1))).open(opening) };
}

async function verify(
  source: Source,
  changes: Partial<Pick<RunSettings, 'limit' | 'onProgress'>> = {},
): Promise<Map<unknown, unknown>> {
  const valid = new Map<unknown, unknown>();
  const sink = rowsSink<{ email: string; email_valid: boolean }>((rows) => {
    for (const row of rows) valid.set(row.email, row.email_valid);
  });
  const stateDir = join(await withFolder(), 'state');
  await run({ source, sink, client, email: ['email'], country: 'US', stateDir, ...changes });
  return valid;
}

const refused = { code: 'input_changed', retryable: true };

describe('a source whose bytes are not seen', () => {
  it('is read twice and compared', async () => {
    const valid = await verify(ownSource(() => people));
    expect([...valid.values()].filter(Boolean)).toHaveLength(50);
    expect(await charged()).toBe(100);
  });

  it.each([
    ['in another order', (rows: readonly object[]) => rows.toReversed()],
    [
      'with a row more',
      (rows: readonly object[]) => [...rows, { id: 100, email: 'a@sluice.test' }],
    ],
    ['with a row fewer', (rows: readonly object[]) => rows.slice(1)],
    [
      'with another address',
      (rows: readonly object[]) => [{ id: 0, email: 'bad0@sluice.test' }, ...rows.slice(1)],
    ],
  ])('is refused when its rows come %s the second time', async (_, changed) => {
    const source = ownSource((reading) => (reading === 1 ? people : changed(people)));
    await expect(verify(source)).rejects.toMatchObject(refused);
  });

  it('is refused as one of several, and when only its first rows are wanted', async () => {
    const turned = () =>
      ownSource((reading) => (reading % 2 === 1 ? people : people.toReversed()), 'turned');
    await expect(verify(turned(), { limit: 80 })).rejects.toMatchObject(refused);
    // One reading more: that of the headers.
    const [fixed, other] = [rowsSource(people.slice(0, 3)), turned()];
    await expect(verify(combinedSource([fixed, other]))).rejects.toMatchObject(refused);
  });
});

it('refuses an array that the program changes while it is verified', async () => {
  const rows = [...people];
  const onProgress: RunSettings['onProgress'] = ({ stage }) => {
    if (stage === 'read') rows.reverse();
  };
  await expect(verify(rowsSource(rows), { onProgress })).rejects.toMatchObject(refused);
});

/** The texts of all rows, and the digest after the last. */
async function readAll(source: Source): Promise<{ rows: string[]; digest: string | undefined }> {
  const reading = await source.open({ wanted: () => [] });
  const rows = (await textsOf(reading)).map((row) => row.map(String).join('|'));
  return { rows, digest: reading.contentDigest?.() };
}

const list = Array.from({ length: 60 }, (_, at) => ({
  id: at,
  email: `good${at}@sluice.test`,
  since: new Date(Date.UTC(2024, at % 12, 1, 8)),
  note: at % 7 === 0 ? null : `a "note", ${at}`,
}));

describe('a limited source', () => {
  it.each(['csv', 'tsv', 'jsonl', 'xlsx', 'parquet'] as const)(
    'gives the first rows of a %s list alone, and the output keeps their form',
    async (format) => {
      const folder = await withFolder();
      const to = (name: string) => join(folder, `${name}.${format}`);
      const verify = async (source: Source, name: string, limit?: number): Promise<Summary> =>
        run({
          source,
          sink: fileSink(to(name)),
          client,
          stateDir: join(folder, name),
          email: ['email'],
          country: 'US',
          prefix: { email: name },
          pollIntervalMs: 1,
          ...(limit !== undefined && { limit }),
        });
      await verify(rowsSource(list), 'list');
      const whole = await verify(fileSource(to('list')), 'checked');
      const paid = await charged();
      const first = await verify(fileSource(to('list')), 'checked2', 23);
      expect([whole.rows, whole.limit, first.rows, first.limit]).toEqual([60, undefined, 23, 23]);
      expect((await charged()) - paid).toBe(23);
      const all = await readAll(fileSource(to('checked')));
      expect((await readAll(fileSource(to('checked2')))).rows).toEqual(all.rows.slice(0, 23));
    },
  );

  it('is known by the rows that it gives, and by no others', async () => {
    const folder = await withFolder();
    const path = join(folder, 'list.csv');
    const digestOf = async (text: string, limit = 2): Promise<string | undefined> => {
      await writeFile(path, text);
      const { rows, digest } = await readAll(limitedSource(fileSource(path), limit));
      expect(rows.length).toBeLessThanOrEqual(limit);
      return digest;
    };
    const digest = await digestOf('id,email\n1,a\n2,b\n3,c\n');
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await digestOf('id,email\n1,a\n2,b\n3,other\n')).toBe(digest);
    expect(await digestOf('id,email\n2,b\n1,a\n3,c\n')).not.toBe(digest);
    expect(await digestOf('id,email\n1,a2\n,b\n')).not.toBe(digest);
    expect(await digestOf('id,email\n1,a\n2,b\n3,c\n', 3)).not.toBe(digest);
  });

  it('lets go of rows of a program when it has enough of them', async () => {
    const folder = await withFolder();
    let given = 0;
    let isClosed = false;
    const endless = async function* () {
      try {
        for (;;) yield { email: `good${(given += 1)}@sluice.test` };
      } finally {
        isClosed = true;
      }
    };
    const summary = await run({
      source: rowsSource(endless()),
      sink: fileSink(join(folder, 'out.csv')),
      client,
      stateDir: join(folder, 'run'),
      email: ['email'],
      country: 'US',
      pollIntervalMs: 1,
      limit: 10,
    });
    expect(summary).toMatchObject({ rows: 10, limit: 10 });
    expect([given, isClosed]).toEqual([10, true]);
  });

  it('is whole where nobody limits it', () => {
    const source = rowsSource([]);
    expect(limitedSource(source, undefined)).toBe(source);
  });
});
