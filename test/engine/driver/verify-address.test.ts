import { describe, expect, expectTypeOf, it } from 'vitest';
import type { VerificationService } from '../../../src/client/client.js';
import { verifyAddress } from '../../../src/index.js';
import { caught, createTestClient } from '../../client/test-client.js';
import { startServer } from '../../client/test-server.js';
import { emailRecordOf } from '../results/export-reading.js';
import { chargesOf } from '../../cli/harness/charges.js';
import { withClient } from '../streams/harness/with-client.js';

const emailRecord = emailRecordOf('Ana@Mail.example');
const phoneRecord = {
  phone: '+12025550123',
  valid: true,
  wrong: false,
  unknown: false,
  type: 'mobile',
  is_syntax_error: false,
  is_ported: false,
};

/** A service that answers each unit verification with this. */
function answering(answer: object): Pick<VerificationService, 'verifyUnit'> {
  return { verifyUnit: async () => ({ status: 'ok', ...answer }) };
}

describe('a single address', () => {
  it('gets a typed verdict', async () => {
    const { service, client } = await withClient();
    const verdict = await verifyAddress({ client, email: ' good@sluice.test ', country: 'US' });
    expectTypeOf(verdict.record?.quality).toExtend<string | undefined>();
    // @ts-expect-error an email has no operator
    expect(verdict.record?.operator?.length).toBeUndefined();
    expect(verdict).toMatchObject({
      verification: 'verified',
      reason: '',
      submitted: 'good@sluice.test',
      record: { valid: true, quality: 'good' },
    });
    expect(await chargesOf(service)).toHaveLength(1);
  });

  it('that is a phone number is sent as a batch would send it', async () => {
    const { service, client } = await withClient();
    const verdict = await verifyAddress({ client, phone: '(202) 555-0123', country: 'USA' });
    expectTypeOf(verdict.record?.operator).toEqualTypeOf<string | null | undefined>();
    expect(verdict.submitted).toBe('+12025550123');
    expect((await chargesOf(service))[0]?.address).toBe('+12025550123');
  });

  it.each([
    [{ email: ' ' }, 'empty'],
    [{ email: 'a@x.example, b@x.example' }, 'contains_comma'],
    [{ phone: '4.91702E+11' }, 'scientific_notation'],
  ])('%j is not sent', async (given, reason) => {
    const { service, client } = await withClient();
    const verdict = await verifyAddress({ client, country: 'US', ...(given as { email: string }) });
    expect(verdict).toMatchObject({ verification: 'not_submitted', reason, record: null });
    expect(await chargesOf(service)).toHaveLength(0);
  });

  it.each([
    ['in the answer itself', emailRecord],
    ['as result', { result: emailRecord }],
    ['under its type', { email: emailRecord }],
  ])('finds the verdict %s', async (_, answer) => {
    const client = answering(answer);
    const verdict = await verifyAddress({ client, email: 'ana@mail.example', country: 'US' });
    expect(verdict.record).toEqual(emailRecord);
  });

  it('has no status of the answer in its verdict', async () => {
    const own = { ...phoneRecord, status: 'active' };
    for (const [answer, status] of [
      [{ ...own, status: 'ok' }, ''],
      [{ status: 'ok', result: own }, 'active'],
    ] as const) {
      const client = answering(answer);
      const { record } = await verifyAddress({ client, phone: '202 555 0123', country: 'US' });
      expect(record).toEqual({ ...own, status });
    }
  });

  it.each([
    [{ status: 'error' }, 'error'],
    [{ status: 'a_new_word', result: emailRecord }, 'a_new_word'],
    [{ verdict: true }, 'no_record'],
  ])('has no result where the answer is %j', async (answer, reason) => {
    const client = answering(answer);
    const verdict = await verifyAddress({ client, email: 'ana@mail.example', country: 'US' });
    expect(verdict).toMatchObject({ verification: 'no_result', reason, answer });
  });

  it('is never given the verdict of another', async () => {
    const client = answering({ result: emailRecord });
    const work = verifyAddress({ client, email: 'eva@mail.example', country: 'US' });
    expect(await caught(work)).toMatchObject({ code: 'broken_contract', sent: 'unknown' });
  });

  it('asks for no more time than somebody waits', async () => {
    const options: unknown[] = [];
    const client: Pick<VerificationService, 'verifyUnit'> = {
      verifyUnit: async (_, call) => {
        options.push(call);
        return { status: 'ok' };
      },
    };
    await verifyAddress({ client, email: 'eva@mail.example', country: 'US' });
    await verifyAddress({ client, email: 'eva@mail.example', country: 'US', timeoutMs: 7 });
    expect(options).toMatchObject([{ timeoutMs: 15_000 }, { timeoutMs: 7 }]);
  });

  it('that is aborted says whether it may be charged', async () => {
    const stop = new AbortController();
    const server = await startServer(() => stop.abort());
    const client = createTestClient(server.baseUrl);
    const reported = async (signal: AbortSignal): Promise<string[]> => {
      const all: string[] = [];
      const onSent = (sent: string): void => void all.push(sent);
      const options = { client, email: 'a@b.example', country: 'US', signal, onSent } as const;
      expect(await caught(verifyAddress(options))).toBe(signal.reason);
      return all;
    };
    expect((await reported(AbortSignal.abort())).at(-1)).toBe('no');
    expect((await reported(stop.signal)).at(-1)).toBe('unknown');
    expect(server.seen).toHaveLength(1);
  });

  it('is refused without a country, and with two addresses', async () => {
    const { client } = await withClient();
    // @ts-expect-error a country is needed
    const none = verifyAddress({ client, email: 'a@b.example' });
    expect(await caught(none)).toMatchObject({ code: 'invalid_option' });
    // @ts-expect-error one of them
    const two = verifyAddress({ client, email: 'a@b.example', phone: '+1', country: 'US' });
    expect(await caught(two)).toMatchObject({ code: 'invalid_option' });
  });
});
