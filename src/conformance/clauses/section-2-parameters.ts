import { type Clause, free, notObservable } from '../clause.js';
import type { Subject } from '../subject.js';
import { countries, highestTargets, parameterDefaults } from '../expected.js';
import { asObject, expectRefused, expectTaken, expectThat, NotReached } from '../shapes.js';

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
