import { Readable, type Duplex } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { expect, expectTypeOf, it } from 'vitest';
import {
  ApiError,
  Client,
  ConfigurationError,
  estimateRun,
  isSluiceError,
  rowsSink,
  rowsSource,
  run,
  streamRun,
  verify,
  verifyRows,
  type AddedField,
  type Row,
  type RunOptions,
  type Source,
  driveBatches,
  joinResults,
  rowsToBatches,
  StreamPlan,
  type Parcel,
  type RowStream,
  type RowsOf,
  type VerifyOptions,
} from '../../../../src/index.js';
import type { ParsedAction } from '../../../../src/service/faults/fault.js';
import {
  createService,
  parseFaultPlan,
  type Fault,
  type FaultPlan,
} from '../../../../src/service/index.js';
import { withClient } from '../harness/with-client.js';

// The compiler is the judge of these types: `npm run types` reads this file too.

interface Contact {
  readonly id: number;
  readonly email: string;
  readonly mobile: string | null;
}

const noCountry = expect.objectContaining({ code: 'country_missing' }) as Error;
const noColumn = expect.objectContaining({ option: 'email', fault: 'missing' }) as Error;

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
    expectTypeOf<'too_long' | ''>().toExtend<typeof row.email_reason>();
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
  expect(() => verify<Contact>()({ client, email: ['email'] })).toThrow(noCountry);
  verify<Contact>()({ client, phone: ['mobile'], countryFrom: 'mobile' }).destroy();
  verify<Contact>()({ client, phone: ['mobile'], countryColumn: 'email' }).destroy();
  // @ts-expect-error a misspelt column of countries
  verify<Contact>()({ client, email: ['email'], countryColumn: 'contry' }).destroy();
  // @ts-expect-error a misspelt column of phone numbers
  verify<Contact>()({ client, phone: ['mobile'], countryFrom: 'moblie' }).destroy();
  const emailAlone = { ...options, email: ['email'] } as const;
  // @ts-expect-error a misspelt column with a prefix
  expect(() => verify<Contact>()({ ...emailAlone, prefix: { emial: 'x' } })).toThrow('"emial"');
  // @ts-expect-error a column that is not verified
  expect(() => verify({ ...emailAlone, prefix: { email: 'mail', id: 'x' } })).toThrow('"id"');
});

it('verifyRows() takes the type of its rows, and knows no other column', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', pollIntervalMs: 1 } as const;
  const rows = verifyRows(contacts.values(), {
    ...options,
    email: ['email'],
    phone: ['mobile'],
    prefix: { mobile: 'tel' },
    columns: ['valid', 'reason'],
  });
  for await (const row of rows) {
    expectTypeOf(row.id).toEqualTypeOf<number>();
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null>();
    expectTypeOf(row.tel_valid).toEqualTypeOf<boolean | null>();
    // @ts-expect-error a misspelt column
    expect(row.emial_valid).toBeUndefined();
    // @ts-expect-error it was not chosen
    expect(row.email_quality).toBeUndefined();
    expect(row).toEqual({
      ...contacts[0],
      email_valid: true,
      email_reason: '',
      tel_valid: true,
      tel_reason: '',
    });
  }
  // @ts-expect-error the contact has no such column
  verifyRows(contacts, { ...options, email: ['emial'] });
  // @ts-expect-error a number is no email address
  verifyRows(contacts, { ...options, email: ['id'] });
  // @ts-expect-error a misspelt column of countries
  verifyRows(contacts, { client, email: ['email'], countryColumn: 'contry' });
  const emailAlone = { ...options, email: ['email'] } as const;
  // @ts-expect-error a misspelt column with a prefix
  expect(() => verifyRows(contacts, { ...emailAlone, prefix: { emial: 'x' } })).toThrow('"emial"');
  const records: Record<string, unknown>[] = [{ Mail: 'good@sluice.test' }];
  for await (const row of verifyRows(records, { ...options, email: ['Mail'] })) {
    expectTypeOf(row.Mail_valid).toEqualTypeOf<boolean | null>();
    expectTypeOf(row['Mail']).toEqualTypeOf<unknown>();
  }
});

it('verifyRows() works in a generic function, without a cast, with the row beside its address', async () => {
  const { client } = await withClient();
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
  async function* verified<T extends { readonly email: string }>(rows: AsyncIterable<T>) {
    async function* pairs() {
      for await (const row of rows) yield { email: row.email, row };
    }
    for await (const { row, email_valid } of verifyRows(pairs(), options)) {
      yield { row, email_valid };
    }
  }
  const source = async function* (): AsyncGenerator<Contact> {
    yield* contacts;
  };
  for await (const { row, email_valid } of verified(source())) {
    expectTypeOf(row).toEqualTypeOf<Contact>();
    expectTypeOf(email_valid).toEqualTypeOf<boolean | null>();
    expect(row).toBe(contacts[0]);
  }
});

it('phone numbers may be numbers, as databases have them', async () => {
  const { client } = await withClient();
  interface Caller {
    readonly tel: number;
    readonly big: bigint | null;
    readonly any: unknown;
    readonly at: Date;
  }
  const callers: Caller[] = [{ tel: 2125550143, big: null, any: 'US', at: new Date(0) }];
  const options = { client, country: 'US', pollIntervalMs: 1 } as const;
  for await (const row of verifyRows(callers, { ...options, phone: ['tel', 'big'] })) {
    expect([row.tel_verification, row.big_reason]).toEqual(['verified', 'empty']);
  }
  verify<Caller>()({ client, phone: ['tel'], countryColumn: 'any' }).destroy();
  // @ts-expect-error a date is no phone number
  verifyRows(callers, { ...options, phone: ['at'] });
  // @ts-expect-error a number is no country
  verifyRows(callers, { client, phone: ['tel'], countryColumn: 'tel' });
  const run = { source: callers, sink: 'out.csv', client } as const;
  const estimate = estimateRun({ ...run, phone: ['tel', '#2'], countryColumn: 'any' });
  expect((await estimate).rows).toBe(1);
  // @ts-expect-error a number is no country
  const misled = estimateRun({ ...run, phone: ['tel'], countryColumn: 'tel' });
  expect((await misled).rows).toBe(1);
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
  await expect(run({ ...options, email: ['email'] })).rejects.toThrow(noCountry);
  // @ts-expect-error emails alone have one, and phones are verified
  await expect(run({ ...options, phone: ['mobile'], emailCountry: 'US' })).rejects.toThrow(
    noCountry,
  );
  // @ts-expect-error no column
  await expect(run({ ...options, country: 'US' })).rejects.toThrow(noColumn);
  // @ts-expect-error no column
  await expect(estimateRun({ source: contacts, country: 'US' })).rejects.toThrow(noColumn);
  // @ts-expect-error no column
  expect(() => verify({ client, country: 'US' })).toThrow(noColumn);
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
    expectTypeOf(row.email_suggestion).toEqualTypeOf<string | null>();
    // A column that was not chosen is any other of the row.
    expectTypeOf(row['email_result']).toEqualTypeOf<unknown>();
    out.push(row);
  }
  expect(out).toEqual([
    { ...contacts[0], email_valid: true, email_quality: 'good', email_suggestion: null },
  ]);
  const suggest: boolean = contacts.length > 1;
  const maybe = verify({ ...options, email: ['email'], suggest });
  maybe.end();
  for await (const row of maybe) {
    expectTypeOf(row.email_suggestion).toEqualTypeOf<string | null | undefined>();
  }
  const columns: readonly AddedField[] = ['valid'];
  const known = verify({ ...options, email: ['email'], columns });
  known.end();
  for await (const row of known) {
    expectTypeOf(row.email_valid).toEqualTypeOf<boolean | null | undefined>();
  }
  // @ts-expect-error a misspelt column
  const misspelt = () => verify({ ...options, email: ['email'], columns: ['vaild'] });
  expect(misspelt).toThrow(/ "valid"\?/);
});

it('verify() does not compile without a country or with an unknown option', async () => {
  const { client } = await withClient();
  // @ts-expect-error no country
  expect(() => verify({ client, email: ['email'] })).toThrow(noCountry);
  // @ts-expect-error emails alone have one, and phones are verified
  expect(() => verify({ client, phone: ['p'], emailCountry: 'US' })).toThrow(noCountry);
  // @ts-expect-error a misspelt option
  expect(() => verify({ client, country: 'US', emial: ['email'] })).toThrow(
    expect.objectContaining({ option: 'emial' }),
  );
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

it('run() holds columns to those of its rows, where they have a type', async () => {
  const { client } = await withClient();
  const options = { sink: '/dev/null', client, country: 'US' } as const;
  const state = { ...options, stateDir: 'unused' };
  const generator = function* (): Generator<Contact> {
    yield* contacts;
  };
  // @ts-expect-error a misspelt column
  const misspelt = run({ ...state, source: contacts, email: ['emial'] });
  await expect(misspelt).rejects.toMatchObject({ code: 'column_not_found', column: 'emial' });
  // @ts-expect-error a misspelt column of countries
  const country = estimateRun({ source: generator(), email: ['email'], countryColumn: 'contry' });
  await expect(country).rejects.toMatchObject({ code: 'column_not_found', column: 'contry' });
  // @ts-expect-error a misspelt column of a stream
  const streamed = streamRun({ ...options, source: generator(), phone: ['moblie'] });
  await expect(streamed).rejects.toThrow(/ "mobile"\?/);
  expectTypeOf(run<Contact[]>)
    .parameter(0)
    .toExtend<RunOptions>();
  expectTypeOf<{ email?: readonly string[] }>().toExtend<
    Pick<Parameters<typeof run<Source | string | string[]>>[0], 'email'>
  >();
});

it('what run() calls and waits for may be async or not', () => {
  type Called = Pick<
    RunOptions,
    'onCarry' | 'onPrepared' | 'onSummary' | 'beforeRemoval' | 'rowsBefore'
  >;
  const sync = {
    onCarry: () => true,
    onPrepared: () => true,
    onSummary: () => undefined,
    beforeRemoval: () => undefined,
    rowsBefore: () => 7,
  };
  expectTypeOf(sync).toExtend<Called>();
  expectTypeOf({ ...sync, onPrepared: async () => true }).toExtend<Called>();
});

it('run() does not compile without stateDir where the sink has no place for it', async () => {
  const { client } = await withClient();
  const options = { source: contacts, client, country: 'US', email: ['email'] } as const;
  const sink = rowsSink(() => undefined);
  // @ts-expect-error no state directory
  await expect(run({ ...options, sink })).rejects.toMatchObject({
    option: 'stateDir',
    fault: 'missing',
  });
  expectTypeOf({ ...options, sink, stateDir: 'state' }).toExtend<RunOptions>();
  expectTypeOf({ ...options, sink: 'out.csv' }).toExtend<RunOptions>();
});

it('run() takes rows of an interface as its source', () => {
  expectTypeOf(contacts).toExtend<RunOptions['source']>();
});

it('errors that are distinguished by code keep their type, and the others theirs', () => {
  const nameOf = (error: unknown): string => {
    if (!isSluiceError(error)) return 'foreign';
    if (isSluiceError(error, 'payment_required')) {
      expectTypeOf(error.code).toEqualTypeOf<'payment_required'>();
      expectTypeOf(error).toExtend<ApiError>();
      return `unpaid, ${error.status}`;
    }
    if (isSluiceError(error, 'connection_lost')) {
      expectTypeOf(error.sent).toEqualTypeOf<'no' | 'unknown'>();
      // @ts-expect-error it had no answer
      expect(error.status).toBeUndefined();
    }
    switch (error.code) {
      case 'input_malformed':
        expectTypeOf(error.line).toEqualTypeOf<number | undefined>();
        return error.name;
      default:
        return error.code;
    }
  };
  expect(nameOf(new ConfigurationError('wrong'))).toBe('invalid_option');
  const unpaid = { code: 'payment_required', operation: 'launchBatch', status: 402 } as const;
  expect(nameOf(new ApiError('no credits', unpaid))).toBe('unpaid, 402');
});

it('a fault is written as in a plan, without what has a default', () => {
  const fault: Fault = { operation: 'exportBatch', what: { cutAtByte: 100 } };
  expectTypeOf([fault]).toExtend<FaultPlan['faults']>();
  // @ts-expect-error a misspelt kind
  const misspelt: Fault = { operation: 'credits', what: { rest: true } };
  expect(() => parseFaultPlan(JSON.stringify({ faults: [misspelt] }))).toThrow(/\banswer, reset\b/);
  expectTypeOf<ParsedAction>().toExtend<Fault['what']>();
  expectTypeOf<Fault['what']>().toExtend<ParsedAction>();
});

it('takes options that a program may have no value for', () => {
  const client = new Client({ baseUrl: 'https://verify.example.com' });
  const maybe = [1].find((one) => one > 1);
  expectTypeOf({
    client,
    email: ['email'],
    country: 'US',
    maxCredits: maybe,
    batchSize: maybe,
    phone: undefined,
    countryColumn: undefined,
    prefix: undefined,
    suggest: undefined,
  } as const).toExtend<VerifyOptions>();
  const without = { countryFrom: undefined, emailCountry: undefined, columns: undefined } as const;
  verify({ client, email: ['email'], country: 'US', phone: undefined, ...without }).destroy();
  expectTypeOf({
    source: 'a.csv',
    sink: 'b.csv',
    client,
    email: ['email'],
    country: 'US',
    maxCredits: maybe,
    limit: maybe,
    signal: undefined,
    onProgress: undefined,
    stateDir: undefined,
    store: undefined,
  } as const).toExtend<RunOptions>();
});

it('verify<Row>() is written to with that row alone', async () => {
  const { client } = await withClient();
  const options = { client, country: 'US', email: ['email'], pollIntervalMs: 1 } as const;
  const rows = verify<Contact>()(options);
  expectTypeOf(rows).toExtend<Duplex>();
  expectTypeOf(rows).toExtend<NodeJS.ReadWriteStream>();
  // @ts-expect-error no contact
  expectTypeOf(rows.write).toBeCallableWith({ id: 1 });
  // @ts-expect-error no contact
  expectTypeOf(rows.end).toBeCallableWith('a@example.com');
  rows.on('error', () => undefined).write({ id: 1, email: 'good@sluice.test', mobile: null });
  rows.end({ id: 2, email: 'bad@sluice.test', mobile: null });
  const ids: number[] = [];
  for await (const { id } of rows) ids.push(id);
  expect(ids).toEqual([1, 2]);
});

it('a client takes a service as its options', async () => {
  const service = await createService();
  const client = new Client(service);
  expect(await client.credits()).toHaveProperty('email_credit');
  await client.close();
  await service.close();
});

it('verifyRows() takes rows of a generic function, whose other fields nobody knows', async () => {
  const { client } = await withClient();
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
  async function* verified<T extends { readonly email: string }>(rows: readonly T[]) {
    const pairs = rows.map((row) => ({ email: row.email, row }));
    for await (const { row, email_valid } of verifyRows(pairs, options)) yield { row, email_valid };
  }
  for await (const { row, email_valid } of verified(contacts)) {
    expectTypeOf(row).toEqualTypeOf<Contact>();
    expectTypeOf(email_valid).toEqualTypeOf<boolean | null>();
    expect({ row, email_valid }).toEqual({ row: contacts[0], email_valid: true });
  }
});

it('run() knows the columns of a rowsSource', () => {
  const client = new Client({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
  const options = { client, sink: 'out.csv', country: 'US' } as const;
  const never = async () => {
    await run({ ...options, source: rowsSource(contacts), email: ['email'] });
    // @ts-expect-error a misspelt column
    await run({ ...options, source: rowsSource(contacts), email: ['emial'] });
    const cells = rowsSource([[1, 'good@sluice.test']], { header: ['id', 'email'] });
    await run({ ...options, source: cells, email: ['email'] });
  };
  expectTypeOf(never).toBeFunction();
});

it('values that are wrong whatever the rows hold do not compile', async () => {
  const { client } = await withClient();
  const email = ['email'] as const;
  const code: string = 'US';
  for (const country of [code, 'Germany', 'UK']) verify({ client, email, country }).destroy();
  verify({ client, email, country: 'Germany' }).destroy();
  verify({ client, email, country: 'UK' }).destroy();
  verify({ client, email: [], phone: ['mobile'], country: 'US' }).destroy();
  // @ts-expect-error no country has this code
  expect(() => verify({ client, email, country: 'XX' })).toThrow(ConfigurationError);
  // @ts-expect-error no country has this code
  expect(() => verify<Contact>()({ client, email, country: 'XX' })).toThrow(ConfigurationError);
  // @ts-expect-error no country has this code
  expect(() => verifyRows(contacts, { client, email, country: 'XX' })).toThrow(ConfigurationError);
  // @ts-expect-error nothing is verified
  expect(() => verify({ client, email: [], country: 'US' })).toThrow(ConfigurationError);
  // @ts-expect-error a plan needs a country, too
  expect(() => new StreamPlan({ email })).toThrow(ConfigurationError);
});

it('options that are built before the call know the columns of their rows', async () => {
  const { client } = await withClient();
  const options: VerifyOptions<Contact> = { client, email: ['email'], country: 'US' };
  expect(options.email).toEqual(['email']);
  // @ts-expect-error the contact has no such column
  const misspelt: VerifyOptions<Contact> = { client, email: ['emial'], country: 'US' };
  expect(misspelt.email).toEqual(['emial']);
});

it('the three Transforms say what goes in and what comes out', async () => {
  const { client } = await withClient();
  const plan = new StreamPlan({ email: ['email'], country: 'US' });
  const steps = [rowsToBatches(plan), driveBatches({ client }), joinResults(plan)] as const;
  expectTypeOf(steps[0]).toEqualTypeOf<RowStream<object, Parcel>>();
  expectTypeOf(steps[1]).toEqualTypeOf<RowStream<Parcel, Parcel>>();
  expectTypeOf(steps[2]).toEqualTypeOf<RowStream<Parcel, Row>>();
  for (const step of steps) step.destroy();
});

it('takes a stream of the web that the types of the DOM declare, which cannot be looped over', () => {
  /** What `lib.dom` has of it. */
  interface DomStream<Item> {
    getReader(): { read(): Promise<{ done: boolean; value?: Item }> };
    pipeTo(to: {
      readonly locked: boolean;
      getWriter(): { write(item?: Item): Promise<void> };
    }): Promise<void>;
  }
  type Read<Rows> = Rows extends RowsOf<infer Input> ? Input : never;
  expectTypeOf<Read<DomStream<Contact>>>().toEqualTypeOf<Contact>();
  expectTypeOf<Read<ReadableStream<Contact>>>().toEqualTypeOf<Contact>();
});
