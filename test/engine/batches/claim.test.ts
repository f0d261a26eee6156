import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchState, planned } from '../../../src/engine/batches/batch-state.js';
import { type BatchClaim, LocalClaims } from '../../../src/engine/batches/claim.js';
import { makeBatch } from '../driver/driving.js';
import { electedAs } from './any-event.js';

const verifying: BatchState = { stage: 'verifying', ...electedAs, launches: 1, readies: 0 };
const nowhere = (): void => undefined;

async function becomes(claim: BatchClaim, state: BatchState): Promise<void> {
  await claim.record({ ...progress, state });
}

describe('LocalClaims', () => {
  it('reserve the credits of a batch once, and those of each type for themselves', async () => {
    const claims = new LocalClaims();
    const emails = claims.claim(makeBatch(0, 6), planned, nowhere);
    const phones = claims.claim(makeBatch(1, 10, 'phone'), planned, nowhere);
    expect(await emails.reserve(10)).toEqual({ isGranted: true, credits: 6 });
    expect(await emails.reserve(10)).toEqual({ isGranted: true, credits: 6 });
    expect(await phones.reserve(10)).toEqual({ isGranted: true, credits: 10 });
    const more = claims.claim(makeBatch(2, 5), planned, nowhere);
    expect(await more.reserve(10)).toEqual({ isGranted: false, credits: 11, most: 10, open: 6 });
  });

  it('give back what was surely not launched, and keep what may be paid', async () => {
    const claims = new LocalClaims();
    const first = claims.claim(makeBatch(0, 10), planned, nowhere);
    await first.reserve(10);
    await becomes(first, planned);
    const second = claims.claim(makeBatch(1, 10), planned, nowhere);
    expect((await second.reserve(10)).isGranted).toBe(true);
    await becomes(second, verifying);
    expect(await first.reserve(10)).toEqual({ isGranted: false, credits: 20, most: 10, open: 10 });
  });

  it('count what an earlier process launched, however much is allowed', async () => {
    const claims = new LocalClaims();
    const launched = claims.claim(makeBatch(0, 12), verifying, nowhere);
    const refused = { isGranted: false, credits: 12, most: 10, open: 0 };
    expect(await launched.reserve(10)).toEqual(refused);
    expect(await launched.reserve(12)).toEqual({ isGranted: true, credits: 12 });
    const next = claims.claim(makeBatch(1, 1), planned, nowhere);
    expect(await next.reserve(10)).toEqual({ isGranted: false, credits: 13, most: 10, open: 12 });
  });

  it('count what was launched in vain beside what is sent in its place', async () => {
    const claims = new LocalClaims();
    const retried = claims.claim(makeBatch(0, 10), verifying, nowhere);
    await retried.record({ ...progress, state: planned, replacedCharge: null });
    expect(await retried.reserve(19)).toEqual({ isGranted: false, credits: 20, most: 19, open: 0 });
    const resumed = new LocalClaims().claim(makeBatch(0, 10), planned, nowhere, {
      replacedCharge: { spent: 8, refunded: 0, net: 8 },
    });
    expect(await resumed.reserve(18)).toEqual({ isGranted: true, credits: 18 });
  });

  it('count a launch with its cost once that is known for good', async () => {
    const claims = new LocalClaims();
    const first = claims.claim(makeBatch(0, 10), verifying, nowhere);
    const next = claims.claim(makeBatch(1, 5), planned, nowhere);
    const charge = { spent: 7, refunded: 3, net: 4 };
    const known = { ...progress, charge };
    // More may be charged before it is done.
    await first.record({ ...known, state: verifying });
    expect(await next.reserve(12)).toEqual({ isGranted: false, credits: 15, most: 12, open: 10 });
    await first.record({ ...known, state: { ...verifying, stage: 'done', broken: 0 } });
    expect(await next.reserve(12)).toEqual({ isGranted: true, credits: 12 });
  });

  it('keep all credits of a launch that ends without a known cost', async () => {
    const claims = new LocalClaims();
    const first = claims.claim(makeBatch(0, 10), verifying, nowhere);
    const next = claims.claim(makeBatch(1, 1), planned, nowhere);
    await becomes(first, { ...verifying, stage: 'exported' });
    expect(await next.reserve(10)).toEqual({ isGranted: false, credits: 11, most: 10, open: 0 });
  });

  it('never reserve more than is allowed', async () => {
    const steps = fc.array(fc.integer({ min: -30, max: 30 }));
    await fc.assert(
      fc.asyncProperty(fc.nat(100), steps, async (most, sizes) => {
        const claims = new LocalClaims();
        const held: { readonly claim: BatchClaim; readonly size: number }[] = [];
        for (const [id, size] of sizes.entries()) {
          const claim = claims.claim(makeBatch(id, Math.abs(size)), planned, nowhere);
          if (size > 0 && (await claim.reserve(most)).isGranted) held.push({ claim, size });
          if (size < 0) await held.pop()?.claim.record({ ...progress, state: planned });
          expect(held.reduce((sum, one) => sum + one.size, 0)).toBeLessThanOrEqual(most);
        }
        const sum = held.reduce((total, one) => total + one.size, 0);
        const rest = claims.claim(makeBatch(9999, most - sum + 1), planned, nowhere);
        expect(await rest.reserve(most)).toEqual({
          isGranted: false,
          credits: most + 1,
          most,
          open: sum,
        });
      }),
    );
  });
});

const progress = { batch: makeBatch(0, 10), name: 'n', charge: undefined };
