import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/platform/waiting/clock.js';
import { type VerificationEngine, judgeOne } from '../../../src/service/verification/engine.js';
import { offlineEngine } from '../../../src/service/verification/offline-engine.js';
import { ServiceClock } from '../with-service.js';

/** As one that asks a network would answer. */
const promising: VerificationEngine = {
  verifyEmails: async (addresses, signal) => offlineEngine.verifyEmails(addresses, signal),
  verifyPhones: async (addresses, country, signal) =>
    offlineEngine.verifyPhones(addresses, country, signal),
};

const { signal } = new AbortController();

// What every engine has to keep, whatever it knows.
describe.each([
  ['offline', offlineEngine],
  ['answering by promises', promising],
])('a verifying engine, %s', (_name, engine) => {
  const emails = ['a@gmail.com', 'nothing', 'good@sluice.test', 'x@localhost', 'a@gmail.com', ''];
  const phones = ['+12025550143', 'call me', '2025550143', '+999002123456', ''];

  it('gives one verdict for each address, in their order', async () => {
    const together = await engine.verifyEmails(emails, signal);
    const alone = await Promise.all(
      emails.map(async (email) => (await engine.verifyEmails([email], signal))[0]),
    );
    expect(together).toEqual(alone);
    expect(await engine.verifyPhones(phones, 'US', signal)).toHaveLength(phones.length);
    expect(await engine.verifyEmails([], signal)).toEqual([]);
    expect(await engine.verifyPhones([], 'DE', signal)).toEqual([]);
  });

  it('says exactly one of valid, wrong and unknown', async () => {
    for (const { valid, wrong, unknown } of [
      ...(await engine.verifyEmails(emails, signal)),
      ...(await engine.verifyPhones(phones, 'US', signal)),
    ]) {
      expect([valid, wrong, unknown].filter(Boolean)).toHaveLength(1);
    }
  });

  it('calls what is no address a syntax error, and wrong', async () => {
    const [email] = await engine.verifyEmails(['nothing'], signal);
    const [phone] = await engine.verifyPhones(['call me'], 'US', signal);
    expect(email).toMatchObject({ is_syntax_error: true, wrong: true, quality: 'bad' });
    expect(phone).toMatchObject({ is_syntax_error: true, wrong: true });
  });

  it('says the same by the same object: results are few', async () => {
    const [a, b] = await engine.verifyEmails(['good1@sluice.test', 'good2@sluice.test'], signal);
    expect(a).toBe(b);
  });
});

describe('one address while somebody waits', () => {
  const one = { type: 'email', address: 'good@sluice.test', country: 'US' } as const;

  it('is judged, and no timer is left', async () => {
    let left = 0;
    const clock: Clock = {
      now: () => 0,
      wallNow: () => 0,
      sleep: async (_ms, stop) => {
        left += 1;
        await new Promise((_resolve, reject) => {
          stop?.addEventListener('abort', () => {
            left -= 1;
            reject(stop?.reason as Error);
          });
        });
      },
    };
    expect(await judgeOne(offlineEngine, one, clock)).toMatchObject({ valid: true });
    expect(left).toBe(0);
  });

  it.each<[string, VerificationEngine['verifyEmails']]>([
    ['heeds its signal', async (_, stop) => rejectedBy(stop)],
    ['does not', async () => new Promise(() => undefined)],
  ])('is given up after five seconds, when the engine %s', async (_name, verifyEmails) => {
    const clock = new ServiceClock();
    const judged = judgeOne({ ...offlineEngine, verifyEmails }, one, clock);
    await clock.someoneSleeps();
    await clock.advance(5000);
    expect(await judged).toBeUndefined();
  });

  it('fails with its engine', async () => {
    const verifyEmails = async () => Promise.reject(new Error('broken'));
    const judged = judgeOne({ ...offlineEngine, verifyEmails }, one, new ServiceClock());
    await expect(judged).rejects.toThrow('broken');
  });
});

async function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
