import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  fileSink,
  fileSource,
  rowsSource,
  run,
  type Source,
  type Summary,
} from '../../../../src/index.js';
import { limitedSource } from '../../../../src/lists/rows/sources/derived-sources.js';
import { withFolder } from '../../../service/with-service.js';
import { chargesOf, withClient } from '../../../engine/streams/with-client.js';

/** The texts of all rows, and the digest after the last. */
async function readAll(source: Source): Promise<{ rows: string[]; digest: string | undefined }> {
  const reading = await source.open({ wanted: () => [] });
  const rows: string[] = [];
  for await (const chunk of reading.chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      rows.push(reading.header.map((_, at) => String(chunk.text(row, at))).join('|'));
    }
  }
  return { rows, digest: reading.contentDigest?.() };
}

const people = Array.from({ length: 60 }, (_, at) => ({
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
      const { service, client } = await withClient();
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
      await verify(rowsSource(people), 'list');
      const whole = await verify(fileSource(to('list')), 'checked');
      const paid = (await chargesOf(service)).length;
      const first = await verify(fileSource(to('list')), 'checked2', 23);
      expect([whole.rows, whole.limit, first.rows, first.limit]).toEqual([60, undefined, 23, 23]);
      expect((await chargesOf(service)).length - paid).toBe(23);
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
    const { client } = await withClient();
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
