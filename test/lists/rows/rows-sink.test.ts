import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Client,
  ConfigurationError,
  rowsSink,
  rowsSource,
  run,
  streamRun,
} from '../../../src/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { openClient } from '../../client/test-client.js';

const country = 'US';
let client: Client;

beforeEach(async () => {
  const { service } = await withService();
  client = openClient(service);
});

async function* lateField(): AsyncGenerator<object> {
  for (let id = 0; id < 2000; id += 1) yield { id, email: `good${id}@sluice.test` };
  yield { id: 2000, email: 'good2000@sluice.test', note: 'a field that no row before it has' };
}

describe('rowsSink', () => {
  it('gives values as they came', async () => {
    const when = new Date(0);
    const row = { email: 'good1@sluice.test', when, tags: ['a', { b: 1 }], big: 12n, none: null };
    const given: object[] = [];
    const sink = rowsSink((rows) => void given.push(...rows));
    await streamRun({ source: rowsSource([row]), sink, client, email: ['email'], country });
    expect(given).toEqual([expect.objectContaining({ ...row, email_valid: true })]);
    expect(given[0]).toHaveProperty('when', when);
  });

  it('refuses a row with a field that the header lacks, in a run before anything is sent', async () => {
    const sink = rowsSink(() => undefined);
    const refused = { code: 'input_malformed', rows: [2001], column: 'note' };
    const options = { sink, client, email: ['email'], country };
    const stateDir = join(await withFolder(), 'state');
    const durable = run({ ...options, source: rowsSource(lateField()), stateDir });
    await expect(durable).rejects.toMatchObject(refused);
    expect(await client.listBatches()).toEqual([]);
    const streamed = streamRun({ ...options, source: rowsSource(lateField()) });
    await expect(streamed).rejects.toMatchObject(refused);
  });

  it('refuses two columns of one name, of which an object would lose one', async () => {
    const source = rowsSource([['good1@sluice.test', 'a', 'b']], { header: ['email', 'x', 'x'] });
    const options = { source, sink: rowsSink(() => undefined), client, email: ['email'], country };
    const stateDir = join(await withFolder(), 'state');
    const refused = { code: 'column_exists' };
    await expect(run({ ...options, stateDir })).rejects.toMatchObject(refused);
    await expect(streamRun(options)).rejects.toMatchObject(refused);
    expect(await client.listBatches()).toEqual([]);
  });

  it('refuses what is no function, and a run a sink that opens without its functions', async () => {
    expect(() => rowsSink('rows' as never)).toThrow(ConfigurationError);
    const sink = rowsSink(() => undefined);
    const open = async () => ({ write: async () => undefined }) as never;
    const source = rowsSource([{ email: 'good1@sluice.test' }]);
    const options = { source, sink: { ...sink, open }, client, email: ['email'] as const, country };
    await expect(streamRun(options)).rejects.toMatchObject({
      code: 'output_failed',
      fault: 'missing',
      message: expect.stringMatching(/ rows: .*\bfinish\(\)/) as string,
    });
    expect(await client.listBatches()).toEqual([]);
  });
});
