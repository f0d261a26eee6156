import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Client,
  estimateRun,
  fileSink,
  fileSource,
  isSluiceError,
  run,
  type RunOptions,
  streamRun,
} from 'sluice';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { serveList, withWebServer } from '../../../lists/remote/web-server.js';
import type { Given } from '../../../platform/given.js';
import { withFolder, paidAddresses } from '../../../service/with-service.js';
import { withClient } from '../../streams/harness/with-client.js';

let folder: string;
let service: Service;
let client: Client;
beforeEach(async () => {
  folder = await withFolder();
  ({ service, client } = await withClient());
});

const at = (name: string): string => join(folder, name);
const common = { email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
const list = 'id,email\n1,good1@sluice.test\n2,\n3,bad@sluice.test\n4,good1@sluice.test\n';

const text = async (name: string): Promise<string> => readFile(at(name), 'utf8');

/** The first two cells of each row below the header. */
async function rowsOf(name: string): Promise<readonly string[]> {
  const [, ...lines] = (await text(name)).trimEnd().split('\n');
  return lines.map((line) => line.split(',').slice(0, 2).join());
}

describe('the ends of a run, named by paths and URLs', () => {
  it('gives the bytes that sources and sinks of these paths give, and pays once', async () => {
    await writeFile(at('a.csv'), list);
    const summary = await run({ source: at('a.csv'), sink: at('b.csv'), client, ...common });
    expect(summary).toMatchObject({ rows: 4, input: at('a.csv'), output: at('b.csv') });
    expect((await paidAddresses(service)).toSorted()).toEqual([
      'bad@sluice.test',
      'good1@sluice.test',
    ]);
    await run({
      source: fileSource(at('a.csv')),
      sink: fileSink(at('c.csv')),
      stateDir: at('state'),
      client,
      ...common,
    });
    expect(await text('b.csv')).toBe(await text('c.csv'));
  });

  it('keeps the state beside the sink until the run is over', async () => {
    await writeFile(at('a.csv'), list);
    const stop = new AbortController();
    const options: RunOptions = {
      source: at('a.csv'),
      sink: pathToFileURL(at('b.csv')),
      client,
      ...common,
      batchSize: 1,
      concurrency: 1,
    };
    const stopped = run({
      ...options,
      signal: stop.signal,
      onProgress: (progress) => {
        if (progress.stage === 'batch' && progress.state.stage === 'exported') stop.abort();
      },
    });
    await expect(stopped).rejects.toThrow('aborted');
    expect((await stat(at('b.csv.sluice'))).isDirectory()).toBe(true);
    const summary = await run(options);
    expect(summary.rows).toBe(4);
    expect((await paidAddresses(service)).toSorted()).toEqual([
      'bad@sluice.test',
      'good1@sluice.test',
    ]);
    expect((await readdir(folder)).toSorted()).toEqual(['a.csv', 'b.csv']);
  });

  it('reads the files of a folder, a pattern and an array as one list', async () => {
    await mkdir(at('lists'));
    await writeFile(at('lists/1.csv'), 'id,email\n1,good1@sluice.test\n');
    await writeFile(at('lists/2.jsonl'), '{"id":2,"email":"good2@sluice.test"}\n');
    const each = {
      folder: at('lists'),
      pattern: at('lists/*.{csv,jsonl}'),
      array: [at('lists/1.csv'), pathToFileURL(at('lists/2.jsonl'))],
    };
    for (const [name, source] of Object.entries(each)) {
      await run({ source, sink: at(`${name}.csv`), client, ...common });
      expect(await rowsOf(`${name}.csv`)).toEqual(['1,good1@sluice.test', '2,good2@sluice.test']);
    }
  });

  it('reads a list on a web server, and rows of a program', async () => {
    const { origin } = await withWebServer(serveList({ content: () => Buffer.from(list) }));
    await run({ source: new URL(`${origin}/list.csv`), sink: at('web.csv'), client, ...common });
    expect(await rowsOf('web.csv')).toHaveLength(4);
    const rows = [
      { id: 1, email: 'good1@sluice.test' },
      { id: 2, email: 'good2@sluice.test' },
    ];
    const once = async function* () {
      yield* rows;
    };
    for (const source of [rows, once()]) {
      await run({ source, sink: at('rows.csv'), client, ...common });
      expect(await rowsOf('rows.csv')).toEqual(['1,good1@sluice.test', '2,good2@sluice.test']);
    }
  });

  it('streams from a path to a path', async () => {
    await writeFile(at('a.csv'), list);
    await streamRun({ source: at('a.csv'), sink: at('b.csv'), client, ...common });
    expect(await rowsOf('b.csv')).toHaveLength(4);
    expect((await readdir(folder)).toSorted()).toEqual(['a.csv', 'b.csv']);
  });

  it('estimates a list without a place for its rows', async () => {
    await writeFile(at('a.csv'), list);
    const estimate = await estimateRun({ source: at('a.csv'), email: ['email'], country: 'US' });
    expect(estimate).toMatchObject({ rows: 4, output: null, email: { addresses: 2, credits: 2 } });
  });

  it('writes a suspect output to the path that is named for it', async () => {
    await writeFile(at('a.csv'), 'email\nunknown@sluice.test\n');
    const summary = await run({
      source: at('a.csv'),
      sink: at('b.csv'),
      maxUnknown: { percent: 0, suspect: at('b.csv.suspect') },
      client,
      ...common,
    });
    expect(summary).toMatchObject({ suspect: true, output: at('b.csv.suspect') });
    expect(await readdir(folder)).not.toContain('b.csv');
  });

  it.each<readonly [string, Given<RunOptions>, object, RegExp]>([
    [
      'a database without a query',
      { source: 'postgres://ada:secret@db.example/lists' },
      { option: 'source', fault: 'missing' },
      /^(?!.*secret).*\bpostgres\b/,
    ],
    [
      'a database without a table',
      { sink: 'mysql://ada:secret@db.example/lists' },
      { option: 'sink', fault: 'missing' },
      /^(?!.*secret).*\bmysql\b/,
    ],
    [
      'a web address to write to',
      { sink: new URL('https://example.com/list.csv') },
      { option: 'sink', fault: 'unsupported' },
      /s3:/,
    ],
    [
      'a URL of something else',
      { source: 'ftp://ada:secret@example.com/list.csv' },
      { option: 'source', fault: 'unsupported' },
      /ftp:.*https:/,
    ],
    ['one file for both', { sink: './a.csv' }, { option: 'source' }, /./],
    [
      'a list that is named twice',
      { source: ['a.csv', 'a.csv'] },
      { option: 'source', file: 'a.csv', fault: 'repeated' },
      /./,
    ],
    [
      'a sink without a place for the state',
      { sink: fileSink('out.csv') },
      { option: 'stateDir', fault: 'missing' },
      /./,
    ],
    ['a path that is empty', { sink: '' }, { option: 'sink' }, /fileSink.*"verified\.csv".*""/],
    [
      'a share beyond its bounds',
      { maxUnknown: { percent: 101, suspect: 'x.csv' } },
      { option: 'maxUnknown' },
      /\b0\b.*\b100\b/,
    ],
    [
      'a suspect that is a database',
      { maxUnknown: { percent: 1, suspect: 'duckdb:x.db' } },
      { option: 'maxUnknown.suspect', fault: 'missing' },
      /\bduckdb\b/,
    ],
  ])('refuses %s, and names the option', async (_, changes, fields, names) => {
    await writeFile(at('a.csv'), list);
    const inFolder = (value: unknown): unknown =>
      value === 'a.csv' || value === './a.csv' ? at(value) : value;
    const { source = 'a.csv', sink = 'b.csv' } = changes;
    const error: unknown = await run({
      client,
      ...common,
      ...changes,
      source: (Array.isArray(source) ? source.map(inFolder) : inFolder(source)) as string,
      sink: inFolder(sink) as string,
    }).catch((caught: unknown) => caught);
    expect(isSluiceError(error, 'invalid_option')).toBe(true);
    expect(JSON.parse(JSON.stringify(error).replaceAll(`${folder}/`, ''))).toMatchObject(fields);
    expect((error as Error).message).toMatch(names);
    expect((await paidAddresses(service)).toSorted()).toEqual([]);
  });
});
