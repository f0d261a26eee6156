import { type Clause, type Subject, unitAnswer } from '../subject.js';
import { expectRefused, expectTaken, objectOf, expectThat } from '../shapes.js';

type Fields = Readonly<Record<string, string | null>>;

async function expectForms(
  subject: Subject,
  good: readonly Fields[],
  bad: readonly Fields[],
): Promise<void> {
  for (const fields of good) {
    expectTaken(await subject.upload(subject.form(fields)), `a form with ${named(fields)}`);
  }
  for (const fields of bad) {
    expectRefused(await subject.upload(subject.form(fields)), `a form with ${named(fields)}`);
  }
}

function named(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      if (value === null) return `no ${name}`;
      return `${name} ${value.length > 20 ? `of ${value.length} characters` : JSON.stringify(value)}`;
    })
    .join(', ');
}

const flags = [
  'remove_duplicate',
  'remove_wrong_email_format',
  'remove_wrong_phone_format',
  'use_account_cache',
  'use_global_cache',
];

/** Words of `status` in answers (spec 2.9). */
const words = {
  upload: ['ok', 'parse_error', 'error'],
  prepare: ['ok', 'error', 'parse_error'],
  launch: [
    'ok',
    'error',
    'not_ready_for_verification',
    'verification_already_ongoing',
    'verification_already_done',
  ],
  unit: ['ok', 'empty', 'parse_error', 'error'],
} as const;

function answerOf(what: keyof typeof words) {
  return { id: `2.9 ${what} answer`, says: `${what} answer: status is ${words[what].join(', ')}` };
}

function expectWord(what: keyof typeof words, status: unknown): void {
  const known: readonly string[] = words[what];
  expectThat(known.includes(String(status)), `status is ${JSON.stringify(status)}`);
}

/** Forms and the answers of what changes something (spec 2.9). */
export const section2Forms: readonly Clause[] = [
  {
    id: '2.9 file',
    says: 'upload form: file is required',
    need: 'free',
    check: async (subject) =>
      expectRefused(await subject.upload(subject.form({}, null)), 'a form without a file'),
  },
  {
    id: '2.9 name',
    says: 'upload form: name is required, of 1 to 255 characters',
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        [{ name: subject.newName().padEnd(255, 'x') }],
        [{ name: null }, { name: '' }, { name: subject.newName().padEnd(256, 'x') }],
      ),
  },
  {
    id: '2.9 description',
    says: 'upload form: description has at most 2048 characters',
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        [{ description: 'x'.repeat(2048) }, { description: null }],
        [{ description: 'x'.repeat(2049) }],
      ),
  },
  {
    id: '2.9 type',
    says: 'upload form: type is required, email or phone',
    need: 'free',
    check: async (subject) =>
      expectForms(subject, [{ type: 'email' }], [{ type: null }, { type: 'fax' }]),
  },
  {
    id: '2.9 target_country',
    says: 'upload form: target_country is required, a country code',
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        [{ target_country: 'DE' }],
        [{ target_country: null }, { target_country: 'XX' }],
      ),
  },
  {
    id: '2.9 targets',
    says: 'upload form: target_audience, target_market_industry, target_objective as 2.3',
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        [{ target_audience: '23', target_market_industry: '115', target_objective: '16' }],
        [{ target_audience: '24' }, { target_market_industry: '116' }, { target_objective: '17' }],
      ),
  },
  {
    id: '2.9 flags',
    says: `upload form: ${flags.join(', ')} are booleans`,
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        ['true', 'false'].map((value) => Object.fromEntries(flags.map((name) => [name, value]))),
        flags.map((name) => ({ [name]: 'perhaps' })),
      ),
  },
  {
    id: '2.9 backoffs',
    says: 'upload form: look-back days of the caches are 1 to 180',
    need: 'free',
    check: async (subject) =>
      expectForms(
        subject,
        [{ max_account_cache_backoff: '1', max_global_cache_backoff: '180' }],
        [{ max_account_cache_backoff: '0' }, { max_global_cache_backoff: '181' }],
      ),
  },
  {
    ...answerOf('upload'),
    need: 'free',
    async check(subject) {
      for (const content of [undefined, 'a,b,c\n1,2,3\n']) {
        const answer = await subject.upload(subject.form({}, content));
        expectWord('upload', objectOf(answer, 'an upload')['status']);
      }
    },
  },
  { id: '2.9 upload fields', says: 'fields of the upload success variant', notShown: true },
  {
    ...answerOf('prepare'),
    need: 'free',
    async check(subject) {
      const uuid = await subject.newBatch();
      const answer = await subject.ask('PATCH', `/v1/batch/${uuid}`);
      expectWord('prepare', objectOf(answer, 'PATCH')['status']);
    },
  },
  {
    ...answerOf('launch'),
    need: 'spend',
    async check(subject) {
      const { launch } = await subject.verified('email');
      expectWord('launch', launch['status']);
    },
  },
  {
    id: '2.9 success',
    says: 'update and deletion answer with a generic success object',
    need: 'free',
    async check(subject) {
      const uuid = await subject.newBatch();
      const json = { type: 'email', target_country: 'DE' };
      objectOf(await subject.ask('PUT', `/v1/batch/${uuid}`, { json }), 'the update');
      objectOf(await subject.ask('DELETE', `/v1/batch/${uuid}`), 'the deletion');
    },
  },
  { id: '2.9 success fields', says: 'fields of the generic success object', notShown: true },
  {
    ...answerOf('unit'),
    need: 'spend',
    async check(subject) {
      expectWord('unit', objectOf(await unitAnswer(subject), 'a unit verification')['status']);
    },
  },
  { id: '2.9 unit fields', says: 'fields of the unit answers', notShown: true },
  {
    id: '2.9 format form',
    says: 'format form: file, type and target_country are required',
    need: 'free',
    async check(subject) {
      const send = async (fields: Fields, content?: string | null) =>
        subject.ask('POST', '/v1/format', {
          form: subject.form({ name: null, ...fields }, content),
        });
      expectTaken(await send({}), 'a whole form');
      expectRefused(await send({}, null), 'a form without a file');
      expectRefused(await send({ type: null }), 'a form without a type');
      expectRefused(await send({ type: 'fax' }), 'a form of another type');
      expectRefused(await send({ target_country: null }), 'a form without a country');
      expectRefused(await send({ target_country: 'XX' }), 'a form of another country');
    },
  },
  { id: '2.9 format fields', says: 'fields of the format normalization answer', notShown: true },
];
