import { type Clause, free, notObservable, notShown, spend } from '../clause.js';
import { type Subject, unitAnswer } from '../subject.js';
import {
  countries,
  highestTargets,
  parameterDefaults,
  asObject,
  expectRefused,
  expectTaken,
  expectThat,
  NotReached,
  objectOf,
} from '../expected.js';

const required = { type: 'email', target_country: 'US' } as const;

/** Updates the parameters of a batch that is never launched, and restores them. */
async function expectBounds(
  subject: Subject,
  good: readonly object[],
  bad: readonly object[],
): Promise<void> {
  const uuid = await subject.spare();
  const put = async (fields: object) =>
    subject.ask('PUT', `/v1/batch/${uuid}`, { json: { ...required, ...fields } });
  for (const fields of good) expectTaken(await put(fields), JSON.stringify(fields));
  for (const fields of bad) expectRefused(await put(fields), JSON.stringify(fields));
}

const flags = [
  'use_account_cache',
  'use_global_cache',
  'remove_duplicate',
  'remove_wrong_email_format',
  'remove_wrong_phone_format',
] as const;
const backoffs = ['max_account_cache_backoff', 'max_global_cache_backoff'] as const;

/** Batch parameters (spec 2.3), and the enumerations that they take (spec 2.4). */
export const section2Parameters: readonly Clause[] = [
  ...(['type', 'target_country'] as const).map((name) =>
    free(`2.3 ${name}`, `${name} is required`, async (subject) => {
      const { [name]: _, ...rest } = required;
      const uuid = await subject.spare();
      const answer = await subject.ask('PUT', `/v1/batch/${uuid}`, { json: rest });
      expectRefused(answer, `an update without ${name}`);
    }),
  ),
  ...Object.entries(highestTargets).map(([name, highest]) =>
    free(`2.3 ${name}`, `${name} is an integer from 1 to ${highest}, or null`, async (subject) =>
      expectBounds(
        subject,
        [{ [name]: 1 }, { [name]: highest }, { [name]: null }],
        [{ [name]: 0 }, { [name]: highest + 1 }, { [name]: 'x' }],
      ),
    ),
  ),
  ...flags.map((name) =>
    free(`2.3 ${name}`, `${name} is a boolean`, async (subject) =>
      expectBounds(subject, [{ [name]: true }, { [name]: false }], [{ [name]: 'perhaps' }]),
    ),
  ),
  ...backoffs.map((name) =>
    free(`2.3 ${name}`, `${name} is an integer from 1 to 180`, async (subject) =>
      expectBounds(
        subject,
        [{ [name]: 1 }, { [name]: 180 }],
        [{ [name]: 0 }, { [name]: 181 }, { [name]: 1.5 }],
      ),
    ),
  ),
  free('2.3 defaults', 'booleans default to true, look-back days to 30', async (subject) => {
    const { uuid } = await subject.ready();
    const details = await subject.details(uuid);
    if (details['parameters'] === undefined || details['parameters'] === null) {
      throw new NotReached('the details show no parameters');
    }
    const shown = asObject(details['parameters'], 'parameters');
    for (const [name, value] of Object.entries(parameterDefaults)) {
      if (!Object.hasOwn(shown, name)) continue;
      expectThat(shown[name] === value, `${name} is ${JSON.stringify(shown[name])}`);
    }
  }),
  free('2.4 type', 'verification type: email, phone', async (subject) =>
    expectBounds(
      subject,
      [{ type: 'phone' }, { type: 'email' }],
      [{ type: 'fax' }, { type: 'Email' }, { type: null }],
    ),
  ),
  free(
    '2.4 country',
    `country code: ${countries.length} allowed values, in upper case`,
    async (subject) =>
      expectBounds(
        subject,
        countries.map((country) => ({ target_country: country })),
        ['XX', 'us', 'USA', ''].map((country) => ({ target_country: country })),
      ),
  ),
  ...Object.entries(highestTargets).map(([name, highest]) =>
    notObservable(
      `2.4 ${name}`,
      `meanings of the ${highest} values of ${name}`,
      'what a number means shows nowhere; its bounds are in 2.3',
    ),
  ),
];

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

const formFlags = [
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

/** Number and sentence of a clause. */
function answerOf(what: keyof typeof words) {
  const says = `${what} answer: status is ${words[what].join(', ')}`;
  return [`2.9 ${what} answer`, says] as const;
}

function expectWord(what: keyof typeof words, status: unknown): void {
  const known: readonly string[] = words[what];
  expectThat(known.includes(String(status)), `status is ${JSON.stringify(status)}`);
}

/** Forms and the answers of what changes something (spec 2.9). */
export const section2Forms: readonly Clause[] = [
  free('2.9 file', 'upload form: file is required', async (subject) =>
    expectRefused(await subject.upload(subject.form({}, null)), 'a form without a file'),
  ),
  free('2.9 name', 'upload form: name is required, of 1 to 255 characters', async (subject) =>
    expectForms(
      subject,
      [{ name: subject.newName().padEnd(255, 'x') }],
      [{ name: null }, { name: '' }, { name: subject.newName().padEnd(256, 'x') }],
    ),
  ),
  free('2.9 description', 'upload form: description has at most 2048 characters', async (subject) =>
    expectForms(
      subject,
      [{ description: 'x'.repeat(2048) }, { description: null }],
      [{ description: 'x'.repeat(2049) }],
    ),
  ),
  free('2.9 type', 'upload form: type is required, email or phone', async (subject) =>
    expectForms(subject, [{ type: 'email' }], [{ type: null }, { type: 'fax' }]),
  ),
  free(
    '2.9 target_country',
    'upload form: target_country is required, a country code',
    async (subject) =>
      expectForms(
        subject,
        [{ target_country: 'DE' }],
        [{ target_country: null }, { target_country: 'XX' }],
      ),
  ),
  free(
    '2.9 targets',
    'upload form: target_audience, target_market_industry, target_objective as 2.3',
    async (subject) =>
      expectForms(
        subject,
        [{ target_audience: '23', target_market_industry: '115', target_objective: '16' }],
        [{ target_audience: '24' }, { target_market_industry: '116' }, { target_objective: '17' }],
      ),
  ),
  free('2.9 flags', `upload form: ${formFlags.join(', ')} are booleans`, async (subject) =>
    expectForms(
      subject,
      ['true', 'false'].map((value) => Object.fromEntries(formFlags.map((name) => [name, value]))),
      formFlags.map((name) => ({ [name]: 'perhaps' })),
    ),
  ),
  free('2.9 backoffs', 'upload form: look-back days of the caches are 1 to 180', async (subject) =>
    expectForms(
      subject,
      [{ max_account_cache_backoff: '1', max_global_cache_backoff: '180' }],
      [{ max_account_cache_backoff: '0' }, { max_global_cache_backoff: '181' }],
    ),
  ),
  free(...answerOf('upload'), async (subject) => {
    for (const content of [undefined, 'a,b,c\n1,2,3\n']) {
      const answer = await subject.upload(subject.form({}, content));
      expectWord('upload', objectOf(answer, 'an upload')['status']);
    }
  }),
  notShown('2.9 upload fields', 'fields of the upload success variant'),
  free(...answerOf('prepare'), async (subject) => {
    const uuid = await subject.newBatch();
    const answer = await subject.ask('PATCH', `/v1/batch/${uuid}`);
    expectWord('prepare', objectOf(answer, 'PATCH')['status']);
  }),
  spend(...answerOf('launch'), async (subject) => {
    const { launch } = await subject.verified('email');
    expectWord('launch', launch['status']);
  }),
  free(
    '2.9 success',
    'update and deletion answer with a generic success object',
    async (subject) => {
      const uuid = await subject.newBatch();
      const json = { type: 'email', target_country: 'DE' };
      objectOf(await subject.ask('PUT', `/v1/batch/${uuid}`, { json }), 'the update');
      objectOf(await subject.ask('DELETE', `/v1/batch/${uuid}`), 'the deletion');
    },
  ),
  notShown('2.9 success fields', 'fields of the generic success object'),
  spend(...answerOf('unit'), async (subject) => {
    expectWord('unit', objectOf(await unitAnswer(subject), 'a unit verification')['status']);
  }),
  notShown('2.9 unit fields', 'fields of the unit answers'),
  free(
    '2.9 format form',
    'format form: file, type and target_country are required',
    async (subject) => {
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
  ),
  notShown('2.9 format fields', 'fields of the format normalization answer'),
];
