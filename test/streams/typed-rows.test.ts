import { Readable } from 'node:stream';
import { expect, expectTypeOf, it } from 'vitest';
import {
  ConfigurationError,
  estimateRun,
  isSluiceError,
  run,
  verify,
  type AddedField,
  type Row,
  type RunOptions,
} from '../../src/index.js';
import type { Fault, FaultPlan } from '../../src/service/index.js';
import { withClient } from './with-client.js';

// The compiler is the judge of these types: `npm run types` reads this file too.

interface Contact {
  readonly id: number;
  readonly email: string;
  readonly mobile: string | null;
}

const contacts: readonly Contact[] = [
  { id: 1, email: 'good@sluice.test', mobile: '+999001234567' },
];

it('verify() gives rows whose added columns have names and types', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', pollIntervalMs: 1 } as const;
  const rows = Readable.from(contacts).pipe(
    verify({ ...options, email: ['email'], phone: ['mobile'], prefix: { mobile: 'tel' } }),
  );
  const out = [];
  for await (const row of rows) {
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null>();
    expectTypeOf(row.tel_operator).toEqualTypeOf<string | null>();
    expectTypeOf(row.email_reason).toEqualTypeOf<string>();
    // A row without a type of its own may have any other column.
    expectTypeOf(row['id']).toEqualTypeOf<unknown>();
    out.push([row['id'], row.email_valid, row.tel_valid, row.email_verification]);
  }
  expect(out).toEqual([[1, true, true, 'verified']]);
});

it('verify<Row>() gives that row and its added columns, and knows no other', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', pollIntervalMs: 1 } as const;
  const rows = Readable.from(contacts).pipe(
    verify<Contact>()({ ...options, email: ['email'], phone: ['mobile'] }),
  );
  for await (const row of rows) {
    expectTypeOf(row.id).toEqualTypeOf<number>();
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null>();
    expectTypeOf(row.mobile_type).toEqualTypeOf<string | null>();
    // @ts-expect-error a misspelt column
    expect(row.emial_valid).toBeUndefined();
    // @ts-expect-error a number is no address
    expect(row.id_valid).toBeUndefined();
    // @ts-expect-error a column of phone numbers has no quality
    expect(row.mobile_quality).toBeUndefined();
    expect(row).toMatchObject({ ...contacts[0], email_valid: true, mobile_valid: true });
  }
  const emails = Readable.from(contacts).pipe(verify<Contact>()({ ...options, email: ['email'] }));
  for await (const row of emails) {
    expectTypeOf(row.mobile).toEqualTypeOf<string | null>();
    // @ts-expect-error the column is not verified
    expect(row.mobile_valid).toBeUndefined();
  }
  // @ts-expect-error the contact has no such column
  verify<Contact>()({ ...options, email: ['emial'] }).destroy();
  // @ts-expect-error a number is no address
  verify<Contact>()({ ...options, email: ['id'] }).destroy();
  // @ts-expect-error a country is needed
  expect(() => verify<Contact>()({ client, email: ['email'] })).toThrow('country');
});

it('verify<Row>() names added columns as prefix and columns say', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', pollIntervalMs: 1, email: ['email'] } as const;
  const rows = Readable.from(contacts).pipe(
    verify<Contact>()({ ...options, prefix: { email: 'mail' }, columns: ['valid', 'quality'] }),
  );
  const out = [];
  for await (const row of rows) {
    expectTypeOf(row.mail_valid).toEqualTypeOf<boolean | null>();
    expect(row.mail_quality).toBe('good');
    // @ts-expect-error its added columns begin otherwise
    expect(row.email_valid).toBeUndefined();
    // @ts-expect-error it was not chosen
    expect(row.mail_result).toBeUndefined();
    out.push(row);
  }
  expect(out).toEqual([{ ...contacts[0], mail_valid: true, mail_quality: 'good' }]);
});

it('run() does not compile without a country or without a column', async () => {
  const { client } = await withClient();
  const options = { source: contacts, sink: '/dev/null', stateDir: 'unused', client } as const;
  // @ts-expect-error no country
  await expect(run({ ...options, email: ['email'] })).rejects.toThrow('a target country is needed');
  // @ts-expect-error emails alone have one, and phones are verified
  await expect(run({ ...options, phone: ['mobile'], emailCountry: 'US' })).rejects.toThrow(
    'a target country is needed',
  );
  // @ts-expect-error no column
  await expect(run({ ...options, country: 'US' })).rejects.toThrow('at least one column');
  // @ts-expect-error no column
  await expect(estimateRun({ source: contacts, country: 'US' })).rejects.toThrow('at least one');
  // @ts-expect-error no column
  expect(() => verify({ client, country: 'US' })).toThrow('at least one column');
  expectTypeOf({ ...options, phone: ['mobile'], countryFrom: 'mobile' }).toExtend<RunOptions>();
  expectTypeOf({ ...options, email: ['email'], emailCountry: 'US' }).toExtend<RunOptions>();
});

it('verify() gives rows with the chosen columns, and knows no other', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', pollIntervalMs: 1 } as const;
  const rows = Readable.from(contacts).pipe(
    verify({ ...options, email: ['email'], columns: ['valid', 'quality'], suggest: true }),
  );
  const out = [];
  for await (const row of rows) {
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null>();
    expectTypeOf(row.email_suggestion).toEqualTypeOf<string | null | undefined>();
    // A column that was not chosen is any other of the row.
    expectTypeOf(row['email_result']).toEqualTypeOf<unknown>();
    out.push(row);
  }
  expect(out).toEqual([
    { ...contacts[0], email_valid: true, email_quality: 'good', email_suggestion: null },
  ]);
  const columns: readonly AddedField[] = ['valid'];
  const known = verify({ ...options, email: ['email'], columns });
  known.end();
  for await (const row of known) {
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null | undefined>();
  }
  // @ts-expect-error a misspelt column
  const misspelt = () => verify({ ...options, email: ['email'], columns: ['vaild'] });
  expect(misspelt).toThrow('did you mean "valid"?');
});

it('verify() does not compile without a country or with an unknown option', async () => {
  const { client } = await withClient();
  // @ts-expect-error no country
  expect(() => verify({ client, email: ['email'] })).toThrow('a target country is needed');
  // @ts-expect-error emails alone have one, and phones are verified
  expect(() => verify({ client, phone: ['p'], emailCountry: 'US' })).toThrow('country');
  // @ts-expect-error a misspelt option
  expect(() => verify({ client, country: 'US', emial: ['email'] })).toThrow('did you mean email?');
  verify({ client, email: ['email'], emailCountry: 'US' }).destroy();
  verify({ client, phone: ['mobile'], countryColumn: 'cc' }).destroy();
  verify({ client, phone: ['mobile'], countryFrom: 'mobile' }).destroy();
});

it('verify() takes rows of any type where columns are named at run time', async () => {
  const { client } = await withClient();
  const email: readonly string[] = ['email'];
  const rows = verify({ client, email, country: 'US' });
  rows.end();
  for await (const row of rows) expectTypeOf(row).toExtend<Row>();
});

it('run() takes rows of an interface as its source', () => {
  expectTypeOf(contacts).toExtend<RunOptions['source']>();
});

it('errors that are told apart by code keep their type, and the others theirs', () => {
  const nameOf = (error: unknown): string => {
    if (!isSluiceError(error)) return 'foreign';
    if (isSluiceError(error, 'payment_required')) {
      expectTypeOf(error.code).toEqualTypeOf<'payment_required'>();
      return 'unpaid';
    }
    return error.code;
  };
  expect(nameOf(new ConfigurationError('wrong'))).toBe('invalid_option');
});

it('a fault is written as in a plan, without what has a default', () => {
  const fault: Fault = { operation: 'exportBatch', what: { cutAtByte: 100 } };
  expectTypeOf([fault]).toExtend<FaultPlan['faults']>();
});
