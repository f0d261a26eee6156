import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigurationError, listSink } from '../../../src/index.js';
import { rowsSource } from '../../../src/lists/rows/sources/rows-source.js';
import type { Sink } from '../../../src/lists/rows/sink.js';
import type { Source } from '../../../src/lists/rows/source.js';
import { sourceChecks } from '../../../src/testing/index.js';
import {
  findS3Objects,
  s3PartsSink,
  s3Sink,
  s3Source,
} from '../../../src/lists/remote/s3/index.js';
import { connectS3, type S3Connection } from '../../../src/lists/remote/s3/client.js';
import { listKeys } from '../../../src/lists/remote/s3/source.js';
import { abortLeftUploads } from '../../../src/lists/remote/s3/upload.js';
import { get, keys, put } from '../../servers/bucket-objects.js';
import { withS3, type S3Server } from '../../servers/start-s3.js';
import { textsOf, writeRows } from '../rows/read-rows.js';

const clock = { now: () => 0, wallNow: () => 0, sleep: async () => undefined };

/** The SDK takes its credentials from the environment of the process. */
async function start(): Promise<S3Server> {
  const server = await withS3();
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return server;
}

async function readIds(source: Source): Promise<readonly unknown[]> {
  return (await textsOf(await source.open({ wanted: () => [0] }), [0])).flat();
}

/** Writes rows of about so many bytes each, as a run does. */
async function write(sink: Sink, rows: number, cell: () => string): Promise<void> {
  await sink.check(0);
  const reading = await rowsSource(
    (function* make() {
      for (let id = 0; id < rows; id += 1) yield { id: String(id), note: cell() };
    })(),
  ).open({ wanted: () => [] });
  await writeRows(sink, { runId: 'r', reading, verified: [], added: [], cellsOf: () => [] });
}

const long = 'x'.repeat(1000);

const missing = { code: 'input_unreadable', fault: 'missing' };

describe('objects in a bucket', () => {
  it.each(
    sourceChecks({
      create: async () => {
        const server = await start();
        await put(server, 'a b/ü+.csv', 'id,email\n1,a@x.example\n2,\n');
        return s3Source(new URL('s3://lists/a b/ü+.csv'), { clock });
      },
      header: ['id', 'email'],
      rows: [
        ['1', 'a@x.example'],
        ['2', ''],
      ],
    }),
  )('$name', async ({ run }) => run());

  it('are found by a pattern or a folder, by key', async () => {
    const server = await start();
    for (const key of ['p/b.csv', 'p/a.parquet', 'p/c.md', 'p/q/d.csv', 'pe.csv', 'p/.e.csv']) {
      await put(server, key, 'x');
    }
    const found = async (url: string): Promise<readonly string[]> => findS3Objects(url);
    expect(await found('s3://lists/p/*.{csv,parquet}')).toEqual([
      's3://lists/p/a.parquet',
      's3://lists/p/b.csv',
    ]);
    expect(await found('s3://lists/p/')).toEqual(['s3://lists/p/a.parquet', 's3://lists/p/b.csv']);
    expect(await found('s3://lists/p/**/*.csv')).toEqual([
      's3://lists/p/b.csv',
      's3://lists/p/q/d.csv',
    ]);
    expect(await found('s3://lists/none.csv')).toEqual(['s3://lists/none.csv']);
    await expect(found('s3://lists/p/*.tsv')).rejects.toMatchObject({ fault: 'missing' });
    await expect(found('s3://none/p/*.tsv')).rejects.toMatchObject(missing);
  });

  it('are read on where the connection broke, and refused when they change', async () => {
    const server = await start();
    const list = (note: string): string =>
      `id,note\n${Array.from({ length: 50_000 }, (_, id) => `${id},${note}\n`).join('')}`;
    await put(server, 'a.csv', list('one'));
    let breaks = 3;
    server.fault = (request) => {
      if (request !== 'GET /lists/a.csv') return undefined;
      breaks -= 1;
      return breaks >= 0 ? 'break answer' : undefined;
    };
    const source = s3Source('s3://lists/a.csv', { clock });
    expect(await readIds(source)).toEqual(Array.from({ length: 50_000 }, (_, id) => String(id)));
    expect(server.requests).toHaveLength(4);
    await put(server, 'a.csv', list('two'));
    await expect(readIds(source)).rejects.toMatchObject({ code: 'input_changed' });
  });

  it('that cannot be read say why', async () => {
    await start();
    for (const name of ['s3://lists/none.csv', 's3://none/a.csv']) {
      const message = expect.stringContaining(` ${name}: `) as string;
      await expect(readIds(s3Source(name))).rejects.toMatchObject({ ...missing, message });
    }
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'WRONG');
    await expect(readIds(s3Source('s3://lists/a.csv'))).rejects.toMatchObject({
      code: 'input_unreadable',
      fault: 'right',
    });
    expect(() => s3Source('s3://')).toThrow(ConfigurationError);
  });
});

describe('an output in a bucket', () => {
  it.each([
    ['of several parts', 34_000, 3],
    ['of one part', 10, 1],
  ])('%s is seen when it is complete, and not before', async (_, rows, parts) => {
    const server = await start();
    await put(server, 'out.csv', 'old');
    let before: Buffer | undefined;
    server.fault = async (request) => {
      // All of it but its completion is on the server by then.
      if (request.startsWith('POST') && request.endsWith('?uploadId'))
        before = await get(server, 'out.csv');
      return undefined;
    };
    const sink = s3Sink('s3://lists/out.csv');
    await write(sink, rows, () => long);
    expect(String(before)).toBe('old');
    const text = String(await get(server, 'out.csv'));
    expect(text.split('\n')).toHaveLength(rows + 2);
    expect(text.endsWith(`\n${rows - 1},${long}\n`)).toBe(true);
    expect(server.requests.filter((one) => one.includes('?partNumber&uploadId'))).toHaveLength(
      parts,
    );
    expect(server.openUploads()).toEqual([]);
  });

  it('may be empty, and compressed', async () => {
    const server = await start();
    await write(listSink(new URL('s3://lists/ö.jsonl')), 0, () => '');
    await write(s3Sink('s3://lists/out.csv.gz'), 1, () => 'x');
    expect(await get(server, 'ö.jsonl')).toHaveLength(0);
    expect(String(gunzipSync(await get(server, 'out.csv.gz')))).toBe('id,note\n0,x\n');
  });

  it('that fails is not seen, and its upload is aborted', async () => {
    const server = await start();
    server.fault = (request) => (request.includes('partNumber') ? 'break' : undefined);
    await expect(write(s3Sink('s3://lists/out.csv'), 17_000, () => long)).rejects.toMatchObject({
      code: 'output_failed',
      message: expect.stringContaining(' s3://lists/out.csv: '),
    });
    expect(await keys(server)).toEqual([]);
    expect(server.openUploads()).toEqual([]);
  });

  it('is there when the answer to its completion was lost', async () => {
    const server = await start();
    server.fault = (request) =>
      request === 'POST /lists/out.csv?uploadId' ? 'lose answer' : undefined;
    await write(s3Sink('s3://lists/out.csv'), 3, () => 'x');
    expect(String(await get(server, 'out.csv'))).toBe('id,note\n0,x\n1,x\n2,x\n');
  });

  it('aborts what a killed process has left of it, and nothing else', async () => {
    const server = await start();
    const leave = async (url: string): Promise<void> => {
      const reading = await rowsSource([{ id: '1', note: long.repeat(17_000) }]).open({
        wanted: () => [],
      });
      const writing = await s3Sink(url, { format: 'csv' }).open({
        reading,
        verified: [],
        added: [],
        cellsOf: () => [],
      });
      for await (const chunk of reading.chunks) {
        await writing.write({ chunk, from: 0, to: 1, outcomes: new Uint32Array(0), width: 0 });
      }
    };
    await leave('s3://lists/out.csv');
    await leave('s3://lists/out.csv.bak');
    await expect.poll(() => server.openUploads().toSorted()).toEqual(['out.csv', 'out.csv.bak']);
    await write(s3Sink('s3://lists/out.csv'), 1, () => 'x');
    expect(server.openUploads()).toEqual(['out.csv.bak']);
  });

  it('is refused early where it cannot be written', async () => {
    await start();
    await expect(s3Sink('s3://none/out.csv').check(1)).rejects.toMatchObject({
      code: 'output_failed',
      fault: 'missing',
      message: expect.stringContaining(' s3://none/out.csv: ') as string,
    });
    expect(() => s3Sink('s3://lists/folder/')).toThrow(
      expect.objectContaining({ code: 'invalid_option', fault: 'folder' }),
    );
    expect(() => s3Sink('s3://lists/out.zip')).toThrow(
      expect.objectContaining({ option: 'sink', fault: 'other_format' }),
    );
  });

  it('in parts has a manifest that names them, and replaces those of an earlier run', async () => {
    const server = await start();
    const sink = s3PartsSink('s3://lists/out', { partBytes: 1_000_000 });
    // As gzip makes nothing smaller.
    let made = 0;
    const noise = (): string => {
      made += 1;
      return createHash('shake256', { outputLength: 500 }).update(String(made)).digest('hex');
    };
    await write(sink, 5000, noise);
    const first = await keys(server);
    await write(sink, 3000, noise);
    const manifest = JSON.parse(String(await get(server, 'out/manifest.json'))) as {
      readonly rows: number;
      readonly parts: readonly { readonly name: string; readonly sha256: string }[];
    };
    expect(manifest.rows).toBe(3000);
    expect(manifest.parts.length).toBeGreaterThan(1);
    const names = manifest.parts.map(({ name }) => `out/${name}`);
    expect(await keys(server)).toEqual(['out/manifest.json', ...names].toSorted());
    expect(first.filter((key) => names.includes(key))).toEqual([]);
    let rows = 0;
    for (const [index, { sha256 }] of manifest.parts.entries()) {
      const bytes = await get(server, names[index] ?? '');
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      rows += String(gunzipSync(bytes)).split('\n').length - 2;
    }
    expect(rows).toBe(3000);
    expect(server.openUploads()).toEqual([]);
    await put(server, 'out/other.txt', 'x');
    await expect(sink.check(1)).rejects.toMatchObject({ fault: 'other_content' });
  });
});

describe('a service that', () => {
  const address = { bucket: 'lists', key: '' };

  it('gives the same part of a list for ever is not believed', async () => {
    const page = { Contents: [{ Key: 'a.csv' }], NextContinuationToken: 'x' };
    const sdk = {
      async *paginateListObjectsV2() {
        for (;;) yield page;
      },
    };
    const found: string[] = [];
    const listing = (async () => {
      for await (const key of listKeys({ sdk } as unknown as S3Connection, address)) {
        found.push(key);
      }
    })();
    await expect(listing).rejects.toMatchObject({ code: 'input_unreadable' });
    expect(found).toEqual(['a.csv', 'a.csv']);
  });

  it('gives the same part of its uploads for ever keeps no writing waiting', async () => {
    const send = vi.fn<() => Promise<unknown>>(async () => ({
      IsTruncated: true,
      NextKeyMarker: 'x',
    }));
    const sdk = { ListMultipartUploadsCommand: Object };
    const connection = { client: { send }, sdk } as unknown as S3Connection;
    await abortLeftUploads(connection, address, () => true);
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('refuses for some seconds is asked again for so long, or as often as its user says', async () => {
    const attempts = async () => {
      const { client } = await connectS3({ region: 'us-east-1' });
      return client.config.maxAttempts();
    };
    expect(await attempts()).toBe(6);
    vi.stubEnv('AWS_MAX_ATTEMPTS', '2');
    expect(await attempts()).toBe(2);
    vi.unstubAllEnvs();
  });
});
