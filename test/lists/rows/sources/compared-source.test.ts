import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  Client,
  combinedSource,
  rowsSink,
  rowsSource,
  run,
  type Source,
} from '../../../../src/index.js';
import type { RunSettings } from '../../../../src/engine/runs/options/run-options.js';
import { chargesOf } from '../../../cli/charges.js';
import { withFolder, withService } from '../../../service/with-service.js';

const people = Array.from({ length: 100 }, (_, id) => ({
  id,
  email: `${id < 50 ? 'good' : 'bad'}${id}@sluice.test`,
}));

let client: Client;
let charged: () => Promise<number>;

beforeEach(async () => {
  const { service } = await withService();
  client = new Client({ baseUrl: service.baseUrl, apiKey: service.apiKey });
  onTestFinished(async () => client.close());
  charged = async () => (await chargesOf(service)).length;
});

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

const refused = {
  code: 'input_changed',
  message: expect.stringMatching(/has changed since the run read it: run again/) as string,
};

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
