import { operations, type Operation } from '../../../src/contract/operations.js';

/** Bytes that may be a request. */
export interface FuzzedRequest {
  readonly bytes: Buffer;
  /** What it was made of, to tell of when it breaks something. */
  readonly what: string;
}

export type Random = () => number;

/** The same numbers for the same seed, on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}

const nasty = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '-1',
  '1e309',
  '1.5',
  'NaN',
  '99999999999999999999',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  '%',
  '%zz',
  '\u0000',
  '\r\n',
  '😀',
  '\ud800',
  "'; DROP TABLE batches; --",
  '<script>alert(1)</script>',
  '{{7*7}}',
  'x'.repeat(300),
  'x'.repeat(5000),
  'email',
  'phone',
  'US',
  'xx',
  'json',
  'xlsx',
  '2026-01-01T00:00:00Z',
  '2026-13-99T99:99:99Z',
  'good@sluice.test',
] as const;

const fieldNames = [
  'type',
  'target_country',
  'name',
  'description',
  'target_audience',
  'use_account_cache',
  'max_global_cache_backoff',
  'remove_duplicate',
  'email',
  'phone',
  'file',
  'format',
  'limit',
  'offset',
  'from_date',
  'include_details',
  '__proto__',
] as const;

/** Any JSON value, sometimes a deep one. */
function anyJson(random: Random, depth = 0): unknown {
  const kind = random();
  if (depth > 3 || kind < 0.5) {
    return oneOf<unknown>(random, [null, true, 0, -1, 1.5, 1e300, ...nasty]);
  }
  const entries = Array.from({ length: Math.floor(random() * 5) }, () =>
    anyJson(random, depth + 1),
  );
  if (kind < 0.65) return entries;
  return Object.fromEntries(entries.map((entry) => [oneOf(random, fieldNames), entry]));
}

function jsonBody(random: Random): Buffer {
  const kind = random();
  if (kind < 0.1) return Buffer.from('['.repeat(Math.floor(random() * 20_000)));
  if (kind < 0.2) return Buffer.from(oneOf(random, nasty));
  if (kind < 0.3) return Buffer.from([0xff, 0xfe, 0x7b, 0x80]);
  const fields = Object.fromEntries(
    fieldNames.filter(() => random() < 0.4).map((name) => [name, anyJson(random)]),
  );
  const sensible = random() < 0.5 ? { type: 'email', target_country: 'US' } : {};
  const text = JSON.stringify({ ...fields, ...sensible });
  return Buffer.from(kind < 0.4 ? text.slice(0, Math.floor(random() * text.length)) : text);
}

const contents = [
  'good@sluice.test\nbad@sluice.test\n',
  '+12025550143\n',
  '',
  '\n\n\n',
  'a,b,c\n',
  '\u0000\n',
  '\ufeffgood@sluice.test\r\n',
  'x'.repeat(6000),
] as const;

function multipartBody(random: Random, boundary: string): Buffer {
  const parts: Buffer[] = [];
  const sensible = random() < 0.6;
  const fields: (readonly [string, string])[] = sensible
    ? [
        ['name', 'fuzzed'],
        ['type', oneOf(random, ['email', 'phone'])],
        ['target_country', 'US'],
      ]
    : [];
  for (const name of fieldNames) if (random() < 0.15) fields.push([name, oneOf(random, nasty)]);
  for (const [name, value] of fields) {
    const header = oneOf(random, [
      `Content-Disposition: form-data; name="${name}"`,
      `content-disposition: form-data; name=${name}`,
      `Content-Disposition: form-data; name="${name}"; filename="x"`,
      `Content-Disposition: form-data`,
      `X: y`,
    ]);
    const usual = random() < 0.8 ? `Content-Disposition: form-data; name="${name}"` : header;
    parts.push(Buffer.from(`--${boundary}\r\n${usual}\r\n\r\n${value}\r\n`));
  }
  if (random() < 0.85) {
    parts.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`,
      ),
      random() < 0.1 ? Buffer.from([0xc3, 0x28, 0x0a]) : Buffer.from(oneOf(random, contents)),
      Buffer.from('\r\n'),
    );
  }
  parts.push(Buffer.from(oneOf(random, [`--${boundary}--\r\n`, `--${boundary}--`, ''])));
  const whole = Buffer.concat(parts);
  return random() < 0.1 ? whole.subarray(0, Math.floor(random() * whole.length)) : whole;
}

const all: readonly Operation[] = Object.values(operations);

function targetOf(random: Random, { path, query }: Operation, uuids: readonly string[]): string {
  const uuid =
    random() < 0.7 && uuids.length > 0
      ? oneOf(random, uuids)
      : oneOf(random, [...nasty, 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF']);
  let target = path.replace('{batch_uuid}', encodeURIComponent(wellFormed(uuid)));
  if (random() < 0.05) target = `/${encodeURIComponent(wellFormed(oneOf(random, nasty)))}`;
  if (random() < 0.05) target = oneOf(random, ['/', '/openapi.json', '/_local/ledger', '//', '/?']);
  if (query === undefined && random() < 0.8) return target;
  const pairs = fieldNames
    .filter(() => random() < 0.25)
    .map((name) => `${name}=${encodeURIComponent(wellFormed(oneOf(random, nasty)))}`);
  if (random() < 0.5) pairs.push('format=json');
  if (random() < 0.1) pairs.push('%ff=%ff&&&=');
  return `${target}?${pairs.join('&')}`;
}

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\ufffd');
}

/** A request that may be right, or wrong in any way; the connection is asked to end behind it. */
export function fuzzedRequest(
  random: Random,
  { key, uuids }: { readonly key: string; readonly uuids: readonly string[] },
): FuzzedRequest {
  if (random() < 0.02) {
    const bytes = Buffer.from(Array.from({ length: 200 }, () => Math.floor(random() * 256)));
    return { bytes: Buffer.concat([bytes, Buffer.from('\r\n\r\n')]), what: 'noise' };
  }
  const operation = oneOf(random, all);
  const { request } = operation;
  const boundary = oneOf(random, ['b', '----x', 'b'.repeat(70)]);
  const kind = random() < 0.9 ? request.kind : oneOf(random, ['none', 'json', 'multipart']);
  const body =
    kind === 'multipart'
      ? multipartBody(random, boundary)
      : kind === 'json'
        ? jsonBody(random)
        : Buffer.alloc(0);
  const method =
    random() < 0.95
      ? operation.method
      : oneOf(random, ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'PUT', 'PATCH', 'DELETE']);
  const target = targetOf(random, operation, uuids);
  const type =
    kind === 'multipart' ? `multipart/form-data; boundary=${boundary}` : 'application/json';
  const headers = [
    `Host: ${oneOf(random, ['localhost', 'evil.example', '127.0.0.1:1', ''])}`,
    'Connection: close',
    ...(random() < 0.93 ? [`X-Api-Key: ${key}`] : [`X-Api-Key: ${oneOf(random, ['', 'x', 'é'])}`]),
    `Content-Type: ${random() < 0.95 ? type : oneOf(random, ['', 'text/plain', 'multipart/form-data', ';;;'])}`,
    ...(random() < 0.05 ? [`Expect: ${oneOf(random, ['100-continue', '200-ok'])}`] : []),
    ...(random() < 0.05 ? [`X-Long: ${'x'.repeat(Math.floor(random() * 20_000))}`] : []),
    ...(random() < 0.05 ? ['Accept-Encoding: gzip', 'Range: bytes=0-1', 'If-None-Match: *'] : []),
    ...(random() < 0.03 ? ['Authorization: Basic !!!'] : []),
  ];
  const isChunked = body.length > 0 && random() < 0.2;
  const sent = isChunked
    ? Buffer.concat([
        Buffer.from(`${body.length.toString(16)}\r\n`),
        body,
        Buffer.from('\r\n0\r\n\r\n'),
      ])
    : body;
  headers.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  const head = `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head), sent]), what: `${method} ${target}` };
}
