import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import type { ServiceVariants } from '../../../../src/service/index.js';
import type { VerifyOptions } from '../../../../src/engine/streams/stream-options.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { withClient } from '../harness/with-client.js';

async function verifyRows(
  rows: Iterable<unknown>,
  options: VerifyOptions,
): Promise<readonly Row[]> {
  const out: Row[] = [];
  const stream = Readable.from(rows).pipe(verify({ ...options, pollIntervalMs: 1 }));
  for await (const row of stream as AsyncIterable<Row>) out.push(row);
  return out;
}

const verifiedEmail = {
  email_verification: 'verified',
  email_reason: '',
  email_valid: true,
  email_wrong: false,
  email_unknown: false,
  email_quality: 'good',
  email_result: 'ok',
  email_is_syntax_error: false,
  email_is_free: false,
  email_is_role: false,
  email_is_disposable: false,
  email_is_catch_all: false,
} as const;

const noEmailResult = Object.fromEntries(Object.keys(verifiedEmail).map((name) => [name, null]));

describe('rows through verify() and a service over HTTP', () => {
  test('come out with every field kept and the columns of both types behind, in their order', async () => {
    const { client, service } = await withClient();
    const when = new Date(0);
    const rows = await verifyRows(
      [
        {
          id: 7n,
          email: 'good@sluice.test',
          tags: ['a'],
          when,
          mobile: '+99900400001',
          none: null,
        },
      ],
      { client, email: ['email'], phone: ['mobile'], country: 'us' },
    );
    expect(rows).toEqual([
      {
        id: 7n,
        email: 'good@sluice.test',
        tags: ['a'],
        when,
        mobile: '+99900400001',
        none: null,
        ...verifiedEmail,
        mobile_verification: 'verified',
        mobile_reason: '',
        mobile_valid: true,
        mobile_wrong: false,
        mobile_unknown: false,
        mobile_type: 'mobile',
        mobile_status: 'active',
        mobile_is_syntax_error: false,
        mobile_is_ported: true,
        mobile_current_network_mcc: '999',
        mobile_current_network_mnc: '99',
        mobile_operator: 'Sluice Test Two',
      },
    ]);
    expect(Object.keys(rows[0] ?? {}).slice(0, 8)).toEqual([
      'id',
      'email',
      'tags',
      'when',
      'mobile',
      'none',
      'email_verification',
      'email_reason',
    ]);
    expect(await chargesOf(service)).toMatchObject([{ credits: 1 }, { credits: 1 }]);
  });

  test('end in one of four ways each, null where nothing is known', async () => {
    const { client } = await withClient();
    const rows = await verifyRows(
      [
        { id: 1, email: 'unknown@sluice.test' },
        { id: 2, email: 'not an address' },
        { id: 3, email: 'a,b@sluice.test' },
        { id: 4, email: ' ' },
        { id: 5 },
        { id: 6, email: 'x'.repeat(260) },
      ],
      { client, email: ['email'], country: 'US' },
    );
    const ends = [
      { id: 1, ...verifiedEmail, email_valid: false, email_unknown: true },
      { id: 2, ...noEmailResult, email_verification: 'no_result', email_reason: 'no_record' },
      {
        id: 3,
        ...noEmailResult,
        email_verification: 'not_submitted',
        email_reason: 'contains_comma',
      },
      { id: 4, ...noEmailResult, email_verification: 'not_submitted', email_reason: 'empty' },
      { id: 5, ...noEmailResult, email_verification: 'not_submitted', email_reason: 'empty' },
      { id: 6, ...noEmailResult, email_verification: 'not_submitted', email_reason: 'too_long' },
    ];
    expect(rows).toMatchObject([
      { ...ends[0], email_quality: 'unknown', email_result: 'unknown' },
      ...ends.slice(1),
    ]);
    for (const row of rows) {
      expect(Object.keys(row).filter((name) => name in noEmailResult)).toHaveLength(12);
    }
  });

  test('share what was paid for one of them: duplicates fan out, in whatever form', async () => {
    const { client, service } = await withClient();
    const emails = ['Bad@sluice.test', 'bad@SLUICE.test ', 'bad@sluice.test', 'good@sluice.test'];
    const phones = ['+1 (212) 555-0123', '12125550123', '212-555-0123', '+99900100001'];
    const rows = await verifyRows(
      Array.from({ length: 400 }, (_, index) => ({
        email: emails[index % 4],
        mobile: phones[index % 4],
      })),
      { client, email: ['email'], phone: ['mobile'], country: 'US', batchSize: 3 },
    );
    expect(rows.map((row) => row['email_valid'])).toEqual(
      Array.from({ length: 400 }, (_, index) => index % 4 === 3),
    );
    const [first] = rows;
    expect(first?.['mobile_verification']).toBe('verified');
    for (const [index, row] of rows.entries()) {
      if (index % 4 === 3) continue;
      expect({ ...row, email: '', mobile: '' }).toEqual({ ...first, email: '', mobile: '' });
    }
    const charged = (await chargesOf(service)).map(({ type, address }) => `${type} ${address}`);
    expect(charged.toSorted()).toEqual([
      'email Bad@sluice.test',
      'email good@sluice.test',
      'phone +12125550123',
      'phone +99900100001',
    ]);
  });

  test('are charged once for each batch group that their country puts them in', async () => {
    const { client, service } = await withClient();
    const countries = ['US', 'gb ', '', 'US', 'XX', undefined];
    const rows = await verifyRows(
      countries.map((country) => ({ email: 'good@sluice.test', country })),
      { client, email: ['email'], countryColumn: 'country', country: 'DE' },
    );
    expect(rows.map((row) => row['email_reason'])).toEqual([
      '',
      '',
      '',
      '',
      'country_unsupported',
      '',
    ]);
    expect(await chargesOf(service)).toHaveLength(3);
    const groups = (await client.listBatches()).length;
    expect(groups).toBe(3);
  });

  test('have the country of their number with countryFrom, their emails too', async () => {
    const { client, service } = await withClient();
    const numbers = ['+49 151 23456789', '0044 7400 123456', '2025550143', '+4915123456789'];
    const rows = await verifyRows(
      numbers.map((tel) => ({ email: 'good@sluice.test', tel })),
      { client, email: ['email'], countryFrom: 'tel', country: 'US' },
    );
    expect(rows.map((row) => row['email_valid'])).toEqual([true, true, true, true]);
    expect(await chargesOf(service)).toHaveLength(3);
    await expect(
      verifyRows([{ email: 'a@sluice.test' }], { client, email: ['email'], countryFrom: 'tel' }),
    ).rejects.toThrow(/"tel"/);
  });

  test('take several columns of one type, and names of their own for what is added', async () => {
    const { client, service } = await withClient();
    const rows = await verifyRows(
      [{ private: 'good@sluice.test', work: 'bad@sluice.test', email_valid: 'mine' }],
      {
        client,
        email: ['work', 'private'],
        country: 'US',
        prefix: { private: 'home' },
      },
    );
    expect(rows).toMatchObject([
      { email_valid: 'mine', work_valid: false, work_quality: 'bad', home_valid: true },
    ]);
    expect(await chargesOf(service)).toHaveLength(2);
  });

  test('keep a column that is named like nothing else may be', async () => {
    const { client } = await withClient();
    const row = (): unknown =>
      JSON.parse('{"__proto__": "good@sluice.test", "constructor": "bad@sluice.test", "1": "x"}');
    const rows = await verifyRows([row(), row()], {
      client,
      email: ['__proto__', 'constructor'],
      country: 'US',
    });
    for (const out of rows) {
      expect(Object.entries(out)).toEqual(
        expect.arrayContaining([
          ['1', 'x'],
          ['__proto__', 'good@sluice.test'],
          ['constructor', 'bad@sluice.test'],
          ['__proto___valid', true],
          ['constructor_valid', false],
        ]),
      );
      expect(Object.getPrototypeOf(out)).toBe(Object.prototype);
    }
  });

  test('tell of every batch what becomes of it, and what it is called', async () => {
    const { client } = await withClient();
    const reported: string[] = [];
    await verifyRows([{ email: 'good@sluice.test' }], {
      client,
      email: ['email'],
      country: 'US',
      batchName: 'night',
      settings: { description: 'all of it', use_global_cache: false },
      onBatch: ({ name, state }) => reported.push(`${name.split('-')[0] ?? ''} ${state.stage}`),
    });
    expect(reported).toEqual(
      [
        'uploading',
        'uploaded',
        'parsing',
        'ready',
        'launching',
        'verifying',
        'done',
        'exported',
      ].map((stage) => `night ${stage}`),
    );
    const [batch] = await client.listBatches();
    expect(batch).toMatchObject({ description: 'all of it' });
    const details: unknown = await client.batchDetails(batch?.batch_uuid ?? '');
    expect(details).toMatchObject({ parameters: { use_global_cache: false } });
  });
});

describe('verify() with a service that answers in its own way', () => {
  const variants: Record<string, ServiceVariants> = {
    'leaves the batch_uuid out of its answer to an upload': { upload: 'no_uuid' },
    'nests the batch_uuid': { upload: 'nested' },
    'adds fields everywhere': { extraFields: true },
    'sends details and statistics in front of the results': { exportSections: 'always_front' },
    'sends details and statistics behind the results': { exportSections: 'always_end' },
    'writes its keys in lower case': { exportKeys: 'lower' },
    'writes its keys in upper case': { exportKeys: 'upper' },
    'writes numbers in national form': { exportKeys: 'national' },
    'writes numbers in E.164': { exportKeys: 'e164' },
    'counts nothing': { counts: false },
    'parses without being asked': { prepareNeeded: false },
    'is ready as soon as the upload is there': { stateAfterUpload: 'ready_for_verification' },
  };
  const input = [
    { email: 'Good.One@Sluice.test', mobile: '(212) 555-0123' },
    { email: 'bad@sluice.test', mobile: '+14155552671' },
    { email: 'Bad@sluice.test', mobile: '+1 212 555 0123' },
    { email: 'nothing', mobile: 'nothing' },
  ];
  const options = { email: ['email'], phone: ['mobile'], country: 'US', batchSize: 2 };
  const asUsual = async () => {
    const { client } = await withClient();
    return verifyRows(input, { ...options, client });
  };
  let usual: ReturnType<typeof asUsual> | undefined;
  for (const [what, variant] of Object.entries(variants)) {
    test(`that ${what}`, async () => {
      const expected = await (usual ??= asUsual());
      const odd = await withClient({ variants: variant });
      expect(expected.map((row) => row['mobile_verification'])).toEqual([
        'verified',
        'verified',
        'verified',
        'no_result',
      ]);
      expect(await verifyRows(input, { ...options, client: odd.client })).toEqual(expected);
      const charges = await chargesOf(odd.service);
      expect(charges).toHaveLength(4);
      expect(new Set(charges.map(({ type, address }) => `${type} ${address}`)).size).toBe(4);
    });
  }
});
