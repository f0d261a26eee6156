import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileSink } from '../../../../src/lists/files/file-sink.js';
import { ObjectChunk, type Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { rowsSource } from '../../../../src/lists/rows/sources/rows-source.js';
import type { Source } from '../../../../src/lists/rows/source.js';
import { run } from '../../../../src/engine/runs/run.js';
import { withFolder, withService, paidAddresses } from '../../../service/with-service.js';
import { openClient } from '../../../client/test-client.js';

const header = ['email'];
const people = Array.from({ length: 6 }, (_, id) => ({ email: `ok+${id}@sluice.test` }));
const broken = new Error('the cursor broke');

/** People until it breaks behind so many; without a number, all of them. */
async function* peopleUntil(breaksBehind = Infinity): AsyncGenerator<Row> {
  for (const [index, person] of people.entries()) {
    if (index === breaksBehind) throw broken;
    yield person;
  }
  if (breaksBehind === people.length) throw broken;
}

/** One that is read as it comes, a row at a time. */
function cursor(breaksBehind?: number): Source {
  const chunks = async function* (): AsyncGenerator<ObjectChunk> {
    for await (const row of peopleUntil(breaksBehind)) yield new ObjectChunk([row], header);
  };
  return {
    name: 'cursor',
    open: async ({ wanted }) => {
      wanted(header);
      return { header, chunks: chunks() };
    },
  };
}

/** One that can be read once, and is kept on disk first. */
function stream(breaksBehind?: number): Source {
  return rowsSource(peopleUntil(breaksBehind), { name: 'cursor', header });
}

describe.each([
  ['read as it comes', cursor],
  ['kept on disk first', stream],
])('a source that is %s', (_, sourceOf) => {
  it.each([0, 1, 2, 3, 4, 5, 6])(
    'and breaks behind row %i ends the run with its error: nothing is sent, and the next run goes on',
    async (breaksBehind) => {
      const folder = await withFolder();
      const { service } = await withService();
      const client = openClient(service);
      const output = join(folder, 'out.csv');
      const verify = async (source: Source) =>
        run({
          source,
          sink: fileSink(output),
          client,
          stateDir: join(folder, 'state'),
          email: ['email'],
          country: 'US',
          batchSize: 2,
          pollIntervalMs: 1,
        });
      await expect(verify(sourceOf(breaksBehind))).rejects.toThrow(broken.message);
      expect(await client.listBatches()).toEqual([]);
      await expect(readFile(output)).rejects.toThrow('ENOENT');

      expect(await verify(sourceOf())).toMatchObject({ rows: people.length });
      expect((await readFile(output, 'utf8')).split('\n')).toHaveLength(people.length + 2);
      const paid = await paidAddresses(service);
      expect(paid.toSorted()).toEqual(people.map(({ email }) => email));
    },
  );
});
