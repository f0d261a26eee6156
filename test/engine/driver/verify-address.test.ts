import { describe, expect, expectTypeOf, it } from 'vitest';
import type { VerificationService } from '../../../src/client/client.js';
import type { UnitAnswer } from '../../../src/contract/bodies.js';
import { type ContractError, verifyAddress } from '../../../src/index.js';
import { systemClock } from '../../../src/platform/waiting/clock.js';
import { orAborted } from '../../../src/platform/waiting/promises.js';
import { caught, createTestClient } from '../../client/test-client.js';
import { sendJson, startServer } from '../../client/test-server.js';
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
    // @ts-expect-error it is misspelt
    expect(verdict.record?.vaild).toBeUndefined();
    // @ts-expect-error an email has no operator
    expect(verdict.record?.operator).toBeUndefined();
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

  it('names the fields that a verdict lacks, once for a client', async () => {
    const { quality: _, ...lacking } = emailRecord;
    const client = answering({ result: { ...lacking, is_free: 'no' } });
    const warnings: unknown[] = [];
    const note = (warning: unknown): number => warnings.push(warning);
    process.on('warning', note);
    for (let call = 0; call < 2; call += 1) {
      const verdict = await verifyAddress({ client, email: 'ana@mail.example', country: 'US' });
      expect(verdict).toMatchObject({ verification: 'no_result', reason: 'no_record' });
    }
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toMatchObject([{ code: 'SLUICE_ODD_VERDICT', detail: 'quality, is_free' }]);
  });

  it.each([undefined, null, 'ok', { result: emailRecord }])(
    'names the method of a double that answers %j',
    async (answer) => {
      const client = { verifyUnit: async () => answer as never };
      const work = verifyAddress({ client, email: 'ana@mail.example', country: 'US' });
      expect(String(await caught(work))).toContain('verifyUnit()');
    },
  );

  it('is never given the verdict of another', async () => {
    const client = answering({ result: emailRecord });
    const work = verifyAddress({ client, email: 'eva@mail.example', country: 'US' });
    expect(await caught(work)).toMatchObject({ code: 'broken_contract', sent: 'unknown' });
  });

  it('whose verdict is of another has the answer, which was paid for, in its error', async () => {
    const server = await startServer((_, response) => {
      response.setHeader('x-request-id', 'request-7');
      sendJson(response, 200, { status: 'ok', result: emailRecord });
    });
    const client = createTestClient(server.baseUrl, { clock: systemClock });
    const error = await caught(verifyAddress({ client, email: 'eva@mail.example', country: 'US' }));
    expect(error).toMatchObject({
      operation: 'verifyUnit',
      status: 200,
      requestId: 'request-7',
      body: { status: 'ok', result: { valid: emailRecord.valid, quality: emailRecord.quality } },
    });
    expect(JSON.stringify((error as ContractError).body)).not.toContain(emailRecord.email);
  });

  it.each([
    'nope',
    '[object Object]',
    'undefined',
    'N/A',
    '-',
    '@',
    'a@',
    '@x.example',
    'foo bar@x.example',
    'Jo <j@x.example>',
    'j@x.example; k@x.example',
    'a@b@x.example',
    'mailto:j@x.example',
    '<j@x.example>',
  ])('%s is no email, and costs nothing unless asked for', async (email) => {
    const { service, client } = await withClient();
    const options = { client, email, country: 'US' } as const;
    const verdict = await verifyAddress(options);
    expect(verdict).toMatchObject({ verification: 'not_submitted', reason: 'malformed' });
    expect(await chargesOf(service)).toHaveLength(0);
    await verifyAddress({ ...options, removeWrongFormat: false });
    expect(await chargesOf(service)).toHaveLength(1);
  });

  it.each(['nope', '123', '-', '[object Object]', 'x12'])(
    '%s is no phone number, and costs nothing unless asked for',
    async (phone) => {
      const { service, client } = await withClient();
      const options = { client, phone, country: 'US' } as const;
      const verdict = await verifyAddress(options);
      expect(verdict).toMatchObject({ verification: 'not_submitted', reason: 'malformed' });
      expect(await chargesOf(service)).toHaveLength(0);
      await verifyAddress({ ...options, removeWrongFormat: false });
      expect(await chargesOf(service)).toHaveLength(1);
    },
  );

  it.each([
    { email: '"a b"@x.example' },
    { email: '"a@b"@x.example' },
    { email: 'ana@bücher.example' },
    { email: "o'neil+a/b=c@x.example" },
    { phone: '800-FLOWERS' },
    { phone: '1234' },
    { phone: '٠١٢٣٤٥' },
  ])('%j may be an address: the service judges it', async (given) => {
    const asked: unknown[] = [];
    const client: Pick<VerificationService, 'verifyUnit'> = {
      verifyUnit: async (request) => {
        asked.push(request);
        return { status: 'ok' };
      },
    };
    await verifyAddress({ client, country: 'US', ...(given as { email: string }) });
    expect(asked).toHaveLength(1);
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
    // The client's clock is fast: its limit must not be over before the service is asked.
    const timeoutMs = 10_000_000;
    const client = createTestClient(server.baseUrl);
    const reported = async (signal: AbortSignal): Promise<string[]> => {
      const all: string[] = [];
      const onSent = (sent: string): void => void all.push(sent);
      const given = { email: 'a@b.example', country: 'US', timeoutMs } as const;
      const options = { ...given, client, signal, onSent };
      expect(await caught(verifyAddress(options))).toBe(signal.reason);
      return all;
    };
    expect((await reported(AbortSignal.abort())).at(-1)).toBe('no');
    expect((await reported(stop.signal)).at(-1)).toBe('unknown');
    expect(server.seen).toHaveLength(1);
  });

  it('that is asked for three times at once is paid once, and later again', async () => {
    const { service, client } = await withClient();
    const options = { client, email: 'good@sluice.test', country: 'US' } as const;
    const ask = async (email: string = options.email): Promise<unknown> =>
      (await verifyAddress({ ...options, email })).verification;
    expect(await Promise.all([ask(), ask(' GOOD@sluice.test'), ask()])).toEqual(
      Array(3).fill('verified'),
    );
    expect(await chargesOf(service)).toHaveLength(1);
    await ask();
    expect(await chargesOf(service)).toHaveLength(2);
    const others = ['good+1@sluice.test', 'good+2@sluice.test'];
    await Promise.all(others.map(async (email) => verifyAddress({ ...options, email })));
    expect(await chargesOf(service)).toHaveLength(4);
  });

  it('is still verified for those who wait when another caller has left', async () => {
    let settle: (answer: UnitAnswer) => void = () => undefined;
    const answer = new Promise<UnitAnswer>((resolve) => {
      settle = resolve;
    });
    const signals: (AbortSignal | undefined)[] = [];
    const client: Pick<VerificationService, 'verifyUnit'> = {
      verifyUnit: async (_, call) => {
        signals.push(call?.signal);
        call?.onSent?.('unknown');
        return orAborted(answer, call?.signal);
      },
    };
    const options = { client, email: 'ana@mail.example', country: 'US' } as const;
    const stop = new AbortController();
    const sent: string[] = [];
    const onSent = (word: string): void => void sent.push(word);
    const first = verifyAddress({ ...options, signal: stop.signal });
    const second = verifyAddress({ ...options, onSent });
    const left = caught(first);
    stop.abort(new Error('gone'));
    expect(await left).toBe(stop.signal.reason);
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    settle({ status: 'ok', result: emailRecord });
    expect(await second).toMatchObject({ verification: 'verified' });
    expect(sent).toEqual(['no', 'unknown']);
  });

  it('is asked for anew by a caller who comes after all have left', async () => {
    let calls = 0;
    const client: Pick<VerificationService, 'verifyUnit'> = {
      verifyUnit: async (_, call) => {
        calls += 1;
        return calls === 1
          ? orAborted(new Promise(() => undefined), call?.signal)
          : { status: 'ok' };
      },
    };
    const options = { client, email: 'ana@mail.example', country: 'US' } as const;
    const stop = new AbortController();
    const left = caught(verifyAddress({ ...options, signal: stop.signal }));
    await Promise.resolve();
    stop.abort(new Error('gone'));
    const next = verifyAddress(options);
    expect(await left).toBe(stop.signal.reason);
    expect(await next).toMatchObject({ reason: 'no_record' });
    expect(calls).toBe(2);
  });

  it('that was sent has its answer awaited after an abort, where asked for', async () => {
    const stop = new AbortController();
    const server = await startServer((_, response) => {
      stop.abort();
      sendJson(response, 200, { status: 'ok', result: emailRecord });
    });
    const client = createTestClient(server.baseUrl, { clock: systemClock });
    const options = { client, email: 'ana@mail.example', country: 'US' } as const;
    const verdict = await verifyAddress({ ...options, signal: stop.signal, graceMs: 10_000 });
    expect(verdict.verification).toBe('verified');
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
