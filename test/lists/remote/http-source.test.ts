import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { httpSource } from '../../../src/lists/remote/http-source.js';
import { sourceChecks } from '../../../src/testing/index.js';
import type { CellText } from '../../../src/lists/rows/chunks/row-chunk.js';
import type { Source } from '../../../src/lists/rows/source.js';
import type { ErrorFault } from '../../../src/platform/errors/errors.js';
import { serveList, withWebServer, type ServedList } from './web-server.js';
import { textsOf } from '../rows/read-rows.js';

const rows = 60_000;
const list = Buffer.from(
  `id,email\n${Array.from({ length: rows }, (_, id) => `${id},good${id}@sluice.test\n`).join('')}`,
);
const etag = (): string => '"v1"';

/** Waits are over at once. */
const clock = { now: () => 0, wallNow: () => 0, sleep: async () => undefined };

async function source(served: ServedList, path = '/list.csv'): Promise<Source> {
  const { origin } = await withWebServer(serveList(served));
  return httpSource(origin + path, { clock });
}

async function read(from: Source): Promise<CellText[]> {
  return (await textsOf(await from.open({ wanted: () => [1] }), [1])).flat();
}

function expectAll(cells: readonly CellText[]): void {
  expect(cells).toHaveLength(rows);
  expect(cells[0]).toBe('good0@sluice.test');
  expect(cells.at(-1)).toBe(`good${rows - 1}@sluice.test`);
  expect(new Set(cells).size).toBe(rows);
}

describe('a list on a web server', () => {
  it.each(
    sourceChecks({
      create: async () =>
        source({ content: () => Buffer.from('id,email\n1,a@x.example\n2,\n'), etag }),
      header: ['id', 'email'],
      rows: [
        ['1', 'a@x.example'],
        ['2', ''],
      ],
    }),
  )('$name', async ({ run }) => run());

  it.each<[string, Partial<ServedList>]>([
    ['by ranges, where its ETag vouches for them', { etag }],
    ['from the start, where the server has no ranges', { etag, hasRanges: false }],
    ['from the start, where the ETag is weak', { etag: () => 'W/"v1"' }],
    ['from the start, where nothing vouches for it', {}],
  ])('is read on after its connection broke, %s', async (_, served) => {
    const size = list.length;
    const web = await withWebServer(
      serveList({
        content: () => list,
        breaksAfter: (count) => [1, size / 5, size / 2, size - 1][count - 1],
        ...served,
      }),
    );
    expectAll(await read(httpSource(`${web.origin}/list.csv`, { clock })));
    const ranges = web.requests
      .map(({ headers }) => headers.range)
      .filter((one) => one !== undefined);
    expect(ranges.length > 0).toBe(served.etag?.() === '"v1"');
    expect(web.requests.length).toBeGreaterThan(2);
  });

  const range = (from: number) => `bytes ${from}-${list.length - 1}/${list.length}`;
  it.each<[string, number, (body: Buffer, from: number) => Record<string, string | number>]>([
    ['a 200 that holds the slice', 200, (body) => ({ 'content-length': body.length })],
    ['a 200 with a range', 200, (_, from) => ({ 'content-range': range(from) })],
    ['a 200 that holds the slice in chunks', 200, () => ({})],
    ['a 206 that begins elsewhere', 206, (_, from) => ({ 'content-range': range(from + 9) })],
    ['a 206 that says not where it begins', 206, () => ({})],
  ])(
    'is read from the start where a request for its rest gets %s',
    async (_, status, headersOf) => {
      const breaks = serveList({ content: () => list, etag, breaksAfter: () => 500_000 });
      const whole = serveList({ content: () => list, etag });
      const web = await withWebServer((request, response, count) => {
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        if (from === 0) return (count === 1 ? breaks : whole)(request, response, count);
        const body = list.subarray(from);
        return response.writeHead(status, { etag: etag(), ...headersOf(body, from) }).end(body);
      });
      expectAll(await read(httpSource(`${web.origin}/list.csv`, { clock })));
      expect(web.requests.map(({ headers }) => headers.range !== undefined)).toEqual([
        false,
        true,
        false,
      ]);
    },
  );

  it('is read on after half of it was refused, and gives up when nothing comes any more', async () => {
    const file = serveList({
      content: () => list,
      etag,
      breaksAfter: (n) => (n === 1 ? 5000 : undefined),
    });
    const web = await withWebServer((request, response, count) => {
      if (count === 2 || count === 3) response.writeHead(503, { 'retry-after': '1' }).end('later');
      else file(request, response, count);
    });
    expectAll(await read(httpSource(`${web.origin}/list.csv`, { clock })));

    const gone = await withWebServer((request, response, count) => {
      if (count > 1) response.writeHead(503).end();
      else file(request, response, count);
    });
    await expect(read(httpSource(`${gone.origin}/list.csv`, { clock }))).rejects.toMatchObject({
      code: 'input_unreadable',
      status: 503,
      message: expect.stringContaining(`${gone.origin}/list.csv`) as string,
    });
    expect(gone.requests).toHaveLength(6);
  });

  it('says what is waited for where nothing comes for some seconds', async () => {
    const later = { 'retry-after': '60' };
    const web = await withWebServer((request, response) => response.writeHead(503, later).end());
    const reported: unknown[] = [];
    const opening = httpSource(`${web.origin}/list.csv`, { clock, mostFailures: 3 }).open({
      onNotice: (given) => reported.push(given),
      wanted: () => [],
    });
    await expect(opening).rejects.toMatchObject({ code: 'input_unreadable' });
    const fields = {
      input: `${web.origin}/list.csv`,
      why: expect.stringContaining('503') as string,
      attempts: 3,
    };
    expect(reported).toMatchObject([
      { code: 'input_waiting', fields: { ...fields, attempt: 2 } },
      { code: 'input_waiting', fields: { ...fields, attempt: 3 } },
    ]);
  });

  it.each<[string, ServedList]>([
    ['in the middle of a reading, by its ETag', changing(true)],
    ['in the middle of a reading, by its bytes where it has no ETag', changing(false)],
    ['in length between two answers, where it has no ETag', growing()],
  ])('is refused when it changes %s', async (_, served) => {
    await expect(read(await source(served))).rejects.toMatchObject({ code: 'input_changed' });
  });

  it('is refused when it changed between two readings', async () => {
    let tag = '"v1"';
    const web = await source({ content: () => list, etag: () => tag });
    expectAll(await read(web));
    expectAll(await read(web));
    tag = 'W/"v1"';
    expectAll(await read(web));
    tag = '"v2"';
    await expect(read(web)).rejects.toMatchObject({
      code: 'input_changed',
      message: expect.stringContaining('/list.csv'),
    });
  });

  it('may be compressed, and of any format', async () => {
    const jsonl = Buffer.from('{"id":1,"email":"a@x.example"}\n');
    expect(await read(await source({ content: () => gzipSync(jsonl), etag }, '/x'))).toEqual([
      'a@x.example',
    ]);
    expect(await read(await source({ content: () => jsonl, etag }, '/x.jsonl?csv'))).toEqual([
      'a@x.example',
    ]);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['compressed once', gzipSync],
    ['compressed again on the way', (bytes) => gzipSync(gzipSync(bytes))],
    ['unpacked on the way', (bytes) => bytes],
  ])('is read by its bytes where its name ends in .gz: %s', async (_, compress) => {
    for (const [path, text] of [
      ['/x.csv.gz', 'id,email\n1,a@x.example\n'],
      ['/x.jsonl.gz', '{"id":1,"email":"a@x.example"}\n'],
    ] as const) {
      const content = compress(Buffer.from(text));
      expect(await read(await source({ content: () => content }, path))).toEqual(['a@x.example']);
    }
  });

  it('that never ends is refused at its most bytes', async () => {
    const { origin } = await withWebServer(serveList({ content: () => list, etag }));
    await expect(
      read(httpSource(`${origin}/list.csv`, { maxBytes: 500_000 })),
    ).rejects.toMatchObject({ code: 'input_unreadable', fault: 'too_large' });
  });
});

function changing(isTagged: boolean): ServedList {
  let count = 0;
  return {
    content: () =>
      (count += 1) === 1 ? list : Buffer.from(list.toString().replace('good0@', 'good9@')),
    breaksAfter: (n) => (n === 1 ? 500_000 : undefined),
    ...(isTagged && { etag: () => `"${count}"` }),
  };
}

/** The second answer begins like the first, and ends later. */
function growing(): ServedList {
  let count = 0;
  return {
    content: () => ((count += 1) === 1 ? list : Buffer.concat([list, list])),
    breaksAfter: (n) => (n === 1 ? 500_000 : undefined),
  };
}

describe('addresses and answers', () => {
  it.each([
    ['http://lists.example.com/a.csv', 'unsupported'],
    ['https://', 'other_format'],
  ])('refuses %s', (address, fault) => {
    const refused = expect.objectContaining({ code: 'invalid_option', fault }) as Error;
    expect(() => httpSource(address)).toThrow(refused);
  });

  it('may be a URL object, and nothing else', () => {
    const { name } = httpSource(new URL('https://me:geheim@lists.example.com/a b.csv?key=geheim'));
    expect(name).toBe('https://lists.example.com/a%20b.csv');
    const refused = expect.objectContaining({ option: 'address' }) as Error;
    expect(() => httpSource(5 as never)).toThrow(refused);
  });

  it.each<[number, Record<string, string>, ErrorFault | undefined]>([
    [404, {}, 'missing'],
    [403, {}, 'right'],
    [418, {}, undefined],
    [200, { 'content-type': 'text/html; charset=utf-8' }, 'other_format'],
    [302, { location: 'ftp://lists.example.com/' }, 'unsupported'],
    [302, { location: 'http://lists.example.com/' }, 'unsupported'],
    [302, { location: '/list.csv' }, 'repeated'],
    [302, {}, 'missing'],
  ])('says what is wrong with an answer: %i %j', async (status, headers, fault) => {
    const { origin } = await withWebServer((_, response) =>
      response.writeHead(status, headers).end('x'),
    );
    const reading = read(httpSource(`${origin}/list.csv`));
    const named = { code: 'input_unreadable', status, ...(fault && { fault }) };
    await expect(reading).rejects.toMatchObject(named);
  });

  it('sends a password to its own server only, and names neither it nor the query', async () => {
    const other = await withWebServer(serveList({ content: () => Buffer.from('id,email\n1,x\n') }));
    const web = await withWebServer((_, response) =>
      response.writeHead(307, { location: `${other.origin}/b.csv` }).end(),
    );
    const from = httpSource(`${web.origin.replace('//', '//ann:s%40cret@')}/a.csv?sig=abc#x`);
    expect(from.name).toBe(`${web.origin}/a.csv`);
    expect(await read(from)).toEqual(['x']);
    expect(web.requests).toMatchObject([
      { path: '/a.csv?sig=abc', headers: { authorization: `Basic ${btoa('ann:s@cret')}` } },
    ]);
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });
});
