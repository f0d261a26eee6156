import type { Clause, Subject } from '../subject.js';
import { asObject, expectTaken, expectThat, NotReached } from '../shapes.js';

const nowhere = '00000000-0000-4000-8000-000000000000';

/** The operations that need a key (spec 4). */
const keyed: readonly (readonly [string, string])[] = [
  ['GET', '/v1/account/credits'],
  ['GET', '/v1/batch'],
  ['POST', '/v1/batch'],
  ['GET', `/v1/batch/${nowhere}`],
  ['PUT', `/v1/batch/${nowhere}`],
  ['PATCH', `/v1/batch/${nowhere}`],
  ['POST', `/v1/batch/${nowhere}`],
  ['DELETE', `/v1/batch/${nowhere}`],
  ['GET', `/v1/batch/${nowhere}/export?format=json`],
  ['GET', `/v1/batch/${nowhere}/details`],
  ['POST', '/v1/unit'],
];

async function expectUnauthorized(subject: Subject, key: string | null): Promise<void> {
  for (const [method, path] of keyed) {
    const body = method === 'PUT' || path === '/v1/unit' ? { json: {} } : {};
    const form = method === 'POST' && path === '/v1/batch' ? { form: subject.form() } : {};
    const answer = await subject.ask(method, path, { ...body, ...form, key });
    expectThat(answer.status === 401, `${method} ${path}: status ${answer.status}`);
    const { message } = asObject(answer.json, `${method} ${path}`);
    expectThat(message === 'Unauthorized', `${method} ${path}: another message`);
  }
}

/** Authentication, events, errors, limits, versions (spec 5, 6, 7, 8, 9). */
export const sections5To9: readonly Clause[] = [
  {
    id: '5.1',
    says: 'requests carry the header X-Api-Key',
    need: 'read',
    async check(subject) {
      expectTaken(await subject.ask('GET', '/v1/account/credits'), 'a request with the key');
    },
  },
  {
    id: '5.2',
    says: 'the security scheme is an API key in a header, named APIKeyHeader',
    notObservable: 'declared in the description, not on the wire',
  },
  {
    id: '5.3 missing',
    says: 'without the header: 401, message Unauthorized',
    need: 'read',
    check: async (subject) => expectUnauthorized(subject, null),
  },
  {
    id: '5.3 invalid',
    says: 'with an invalid key: 401, message Unauthorized',
    need: 'read',
    check: async (subject) => expectUnauthorized(subject, 'sluice-conformance-no-such-key'),
  },
  {
    id: '5.3 revoked',
    says: 'with a revoked key: 401, message Unauthorized',
    notObservable: 'keys are revoked in the dashboard',
  },
  {
    id: '5.4',
    says: 'keys are created, named, revoked and replaced in the dashboard',
    notObservable: 'outside the API',
  },
  { id: '6', says: 'events', notShown: true },
  {
    id: '6 polling',
    says: 'completion is observed by polling the status',
    need: 'free',
    check: async (subject) => void (await subject.ready()),
  },
  {
    id: '7 400',
    says: 'Bad Request: JSON object with message',
    need: 'free',
    async check(subject) {
      const path = `/v1/batch/${await subject.spare()}`;
      const answer = await subject.ask('PUT', path, { text: 'no JSON' });
      if (answer.status !== 400) {
        throw new NotReached(`what produces 400 is not shown; this gave ${answer.status}`);
      }
      const { message } = asObject(answer.json, 'the body');
      expectThat(typeof message === 'string', 'its message is no string');
    },
  },
  {
    id: '7 401',
    says: 'Unauthorized: JSON object with message, on all keyed endpoints',
    need: 'read',
    check: async (subject) => expectUnauthorized(subject, null),
  },
  {
    id: '7 402',
    says: 'Payment Required: launch and unit verification',
    notObservable: 'needs an account that has run out of credits',
  },
  { id: '7 403', says: 'Forbidden: what produces it', notShown: true },
  { id: '7 404', says: 'Not Found: what produces it', notShown: true },
  {
    id: '7 422',
    says: 'Validation Error',
    need: 'read',
    async check(subject) {
      const { status } = await subject.ask('GET', '/v1/batch?limit=0');
      if (status === 400) throw new NotReached('limit=0 was refused with 400');
      expectThat(status === 422, `limit=0 was answered with ${status}`);
    },
  },
  {
    id: '7 429',
    says: 'Too Many Requests',
    notObservable: 'limits are not shown; this suite waits when it meets one',
  },
  { id: '7 500', says: 'Internal Server Error: what produces it', notShown: true },
  { id: '7 bodies', says: 'bodies of 402, 403, 404, 422, 429 and 500', notShown: true },
  {
    id: '7 rule 3',
    says: 'outcome problems inside a 200 response are in its status',
    need: 'free',
    async check(subject) {
      const answer = await subject.upload(subject.form({}, 'a,b\n'));
      if (answer.status !== 200) throw new NotReached(`a file with commas: ${answer.status}`);
      const { status } = asObject(answer.json, 'the body');
      expectThat(typeof status === 'string', 'there is no status in it');
    },
  },
  {
    id: '7 rule 4',
    says: 'a batch in internal_error is reported to support with its batch_uuid',
    notObservable: 'a matter between people',
  },
  ...(
    [
      ['8 limit', 'limit is 1 to 1000, default 100', ['4 GET /v1/batch limit']],
      ['8 offset', 'offset is 0 or more, default 0', ['4 GET /v1/batch offset']],
      [
        '8 backoffs',
        'look-back days are 1 to 180, default 30',
        ['2.3 max_account_cache_backoff', '2.3 max_global_cache_backoff', '2.9 backoffs'],
      ],
      ['8 name', 'name has 1 to 255 characters', ['2.9 name']],
      ['8 description', 'description has up to 2048 characters', ['2.9 description']],
      ['8 unit', 'unit verification takes up to 5 seconds', ['1.5']],
      ['8 cost', '1 credit per record', ['1.8', '1.9']],
      ['8 refund', '50% per cache-hit record', ['1.12']],
      ['8 re-parses', 'unlimited before launch', ['3 rule 1']],
    ] as const
  ).map(([id, says, sameAs]): Clause => ({ id, says, sameAs })),
  { id: '8 rate', says: 'rate limits', notShown: true },
  { id: '8 size', says: 'maximum file size and row count', notShown: true },
  {
    id: '9.1',
    says: 'all endpoints live under /v1',
    need: 'read',
    async check(subject) {
      expectTaken(await subject.ask('GET', '/v1/account/credits'), 'a path under /v1');
    },
  },
  {
    id: '9.2',
    says: 'the interface description carries version 1.0.0',
    notObservable: 'the specification says of no path that it gives the description',
  },
  { id: '9 policy', says: 'deprecation and compatibility', notShown: true },
];
