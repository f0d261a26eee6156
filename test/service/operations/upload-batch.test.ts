import { describe, expect, it } from 'vitest';
import { uploadAnswer } from '../../../src/contract/bodies.js';
import { withService } from '../with-service.js';
import { multipart, type Wire } from '../wire.js';

async function parametersOf(wire: Wire, uuid: string) {
  return (await wire.get(`/v1/batch/${uuid}/details`)).json.parameters;
}

describe('uploading a batch', () => {
  it('answers with the uuid and the time', async () => {
    const { wire } = await withService();
    const answer = await wire.uploadAnswer(['a@b.example']);
    expect(answer.status).toBe(200);
    expect(uploadAnswer.parse(answer.json)).toEqual({
      status: 'ok',
      batch_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as unknown,
    });
  });

  it('fills in the defaults of the specification', async () => {
    const { wire } = await withService();
    const uuid = await wire.upload(['a@b.example']);
    expect(await parametersOf(wire, uuid)).toEqual({
      type: 'email',
      target_country: 'US',
      use_account_cache: true,
      max_account_cache_backoff: 30,
      use_global_cache: true,
      max_global_cache_backoff: 30,
      remove_duplicate: true,
      remove_wrong_email_format: true,
      remove_wrong_phone_format: true,
    });
  });

  it('takes every parameter as a text of the form', async () => {
    const { wire } = await withService();
    const given = {
      type: 'phone',
      target_country: 'DE',
      target_audience: '7',
      target_market_industry: '115',
      target_objective: '',
      use_account_cache: 'false',
      max_account_cache_backoff: '180',
      use_global_cache: '0',
      max_global_cache_backoff: '1',
      remove_duplicate: 'False',
      remove_wrong_email_format: '1',
      remove_wrong_phone_format: 'false',
    };
    expect(await parametersOf(wire, await wire.upload(['030 123456'], given))).toEqual({
      type: 'phone',
      target_country: 'DE',
      target_audience: 7,
      target_market_industry: 115,
      target_objective: null,
      use_account_cache: false,
      max_account_cache_backoff: 180,
      use_global_cache: false,
      max_global_cache_backoff: 1,
      remove_duplicate: false,
      remove_wrong_email_format: true,
      remove_wrong_phone_format: false,
    });
  });

  it.each([
    ['name', null],
    ['name', ''],
    ['name', 'n'.repeat(256)],
    ['description', 'd'.repeat(2049)],
    ['type', null],
    ['type', 'fax'],
    ['target_country', null],
    ['target_country', 'us'],
    ['target_country', 'XX'],
    ['target_audience', '24'],
    ['target_audience', '0'],
    ['target_market_industry', '116'],
    ['target_objective', '17'],
    ['target_objective', '1.5'],
    ['use_account_cache', 'maybe'],
    ['max_account_cache_backoff', '0'],
    ['max_global_cache_backoff', '181'],
    ['remove_duplicate', ''],
  ])('refuses the field %s with %j, naming it', async (field, value) => {
    const { wire } = await withService();
    const answer = await wire.uploadAnswer(['a@b.example'], { [field]: value });
    expect(answer.status).toBe(422);
    expect(answer.json.message).toBe('Validation Error');
    expect(answer.json.errors).toMatchObject([{ field }]);
    expect((await wire.get('/v1/batch')).list).toEqual([]);
  });

  it('takes names and descriptions up to their length', async () => {
    const { wire } = await withService();
    const fields = { name: 'ñ'.repeat(255), description: '"</script>\u2028'.repeat(150) };
    const uuid = await wire.upload(['a@b.example'], fields);
    expect((await wire.get(`/v1/batch/${uuid}`)).json).toMatchObject(fields);
  });

  it('refuses a form without a file, and one with a field twice', async () => {
    const { wire } = await withService();
    const fields = { name: 'n', type: 'email', target_country: 'US' };
    const without = await wire.send('POST', '/v1/batch', multipart(fields));
    expect([without.status, without.json.errors]).toEqual([
      422,
      [{ field: 'file', message: 'is required' }],
    ]);
    const { body, headers } = multipart(fields, Buffer.from('a@b.example\n'));
    const repeated = Buffer.from(
      body.toString().replace(/(--[^\r]+\r\n[^\r]+name="name"\r\n\r\nn\r\n)/, '$1$1'),
    );
    const answer = await wire.send('POST', '/v1/batch', { body: repeated, headers });
    expect([answer.status, answer.json.errors]).toEqual([
      422,
      [{ field: 'name', message: 'given twice' }],
    ]);
  });

  it.each([
    ['a comma', 'a@b.example\na,b@c.example\n', 'line 2 holds a comma'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x0a]), 'the file is not UTF-8'],
    ['a character cut off at its end', Buffer.from([0x61, 0xc3]), 'the file is not UTF-8'],
    ['a null byte', 'a\0b\n', 'line 1 holds a null byte'],
    ['an endless line', 'x'.repeat(5000), 'line 1 is longer than 4096 bytes'],
  ])(
    'answers a file with %s by parse_error, and makes no batch',
    async (_what, content, message) => {
      const { wire } = await withService();
      const answer = await wire.uploadAnswer(Buffer.from(content as string));
      expect([answer.status, answer.json]).toEqual([200, { status: 'parse_error', message }]);
      expect((await wire.get('/v1/batch')).list).toEqual([]);
    },
  );

  it('reads CRLF, a byte-order mark and a last line without an end', async () => {
    const { wire } = await withService();
    const { batch_uuid } = await wire.verify(
      Buffer.from('\uFEFFgood1@sluice.test\r\n\r\n  good2@sluice.test \r\ngood3@sluice.test'),
    );
    expect(Object.keys(await wire.records(batch_uuid))).toEqual([
      'good1@sluice.test',
      'good2@sluice.test',
      'good3@sluice.test',
    ]);
  });

  it('gives back the uploaded content to the letter', async () => {
    const { wire } = await withService();
    const content = `\uFEFF"quoted"@x.example\r\n\\\t${'😀é'.repeat(600)}\n\u2028@x\n`;
    const uuid = await wire.upload(Buffer.from(content));
    const details = (await wire.get(`/v1/batch/${uuid}/details`)).json;
    expect(details.content).toBe(content);
    expect(details.content_bytes).toBe(Buffer.byteLength(content));
  });
});
