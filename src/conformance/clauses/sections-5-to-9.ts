import { type Clause, free, notObservable, notShown, read } from '../clause.js';
import type { Subject } from '../subject.js';
import { asObject, expectTaken, expectThat, NotReached } from '../expected.js';

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
  read('5.1', 'requests carry the header X-Api-Key', async (subject) => {
    expectTaken(await subject.ask('GET', '/v1/account/credits'), 'a request with the key');
  }),
  notObservable(
    '5.2',
    'the security scheme is an API key in a header, named APIKeyHeader',
    'declared in the description, not on the wire',
  ),
  read('5.3 missing', 'without the header: 401, message Unauthorized', async (subject) =>
    expectUnauthorized(subject, null),
  ),
  read('5.3 invalid', 'with an invalid key: 401, message Unauthorized', async (subject) =>
    expectUnauthorized(subject, 'sluice-conformance-no-such-key'),
  ),
  notObservable(
    '5.3 revoked',
    'with a revoked key: 401, message Unauthorized',
    'keys are revoked in the dashboard',
  ),
  notObservable(
    '5.4',
    'keys are created, named, revoked and replaced in the dashboard',
    'outside the API',
  ),
  notShown('6', 'events'),
  free(
    '6 polling',
    'completion is observed by polling the status',
    async (subject) => void (await subject.ready()),
  ),
  free('7 400', 'Bad Request: JSON object with message', async (subject) => {
    const path = `/v1/batch/${await subject.spare()}`;
    const answer = await subject.ask('PUT', path, { text: 'no JSON' });
    if (answer.status !== 400) {
      throw new NotReached(`what produces 400 is not shown; this gave ${answer.status}`);
    }
    const { message } = asObject(answer.json, 'the body');
    expectThat(typeof message === 'string', 'its message is not a string');
  }),
  read('7 401', 'Unauthorized: JSON object with message, on all keyed endpoints', async (subject) =>
    expectUnauthorized(subject, null),
  ),
  notObservable(
    '7 402',
    'Payment Required: launch and unit verification',
    'needs an account that has run out of credits',
  ),
  notShown('7 403', 'Forbidden: what produces it'),
  notShown('7 404', 'Not Found: what produces it'),
  read('7 422', 'Validation Error', async (subject) => {
    const { status } = await subject.ask('GET', '/v1/batch?limit=0');
    if (status === 400) throw new NotReached('limit=0 was refused with 400');
    expectThat(status === 422, `limit=0 was answered with ${status}`);
  }),
  notObservable(
    '7 429',
    'Too Many Requests',
    'limits are not shown; this suite waits when it meets one',
  ),
  notShown('7 500', 'Internal Server Error: what produces it'),
  notShown('7 bodies', 'bodies of 402, 403, 404, 422, 429 and 500'),
  free('7 rule 3', 'outcome problems inside a 200 response are in its status', async (subject) => {
    const answer = await subject.upload(subject.form({}, 'a,b\n'));
    if (answer.status !== 200) throw new NotReached(`a file with commas: ${answer.status}`);
    const { status } = asObject(answer.json, 'the body');
    expectThat(typeof status === 'string', 'it has no status');
  }),
  notObservable(
    '7 rule 4',
    'a batch in internal_error is reported to support with its batch_uuid',
    'a matter between people',
  ),
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
  notShown('8 rate', 'rate limits'),
  notShown('8 size', 'maximum file size and row count'),
  read('9.1', 'all endpoints live under /v1', async (subject) => {
    expectTaken(await subject.ask('GET', '/v1/account/credits'), 'a path under /v1');
  }),
  notObservable(
    '9.2',
    'the interface description carries version 1.0.0',
    'the specification says of no path that it gives the description',
  ),
  notShown('9 policy', 'deprecation and compatibility'),
];
