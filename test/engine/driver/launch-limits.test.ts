import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { type BatchState, planned } from '../../../src/engine/batches/batch-state.js';
import { LocalClaims } from '../../../src/engine/batches/claim.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import { LaunchGate, RefusedSizes } from '../../../src/engine/driver/launch-limits.js';
import { BudgetError } from '../../../src/platform/errors/errors.js';
import { electedAs } from '../batches/any-event.js';
import { makeBatch } from './driving.js';
import { refusal } from './fake-service.js';

const anyClaim = new LocalClaims().claim(makeBatch(), planned, () => undefined);
const { signal } = new AbortController();
const exported: BatchState = { stage: 'exported', ...electedAs, launches: 1 };

/** Asks the gate for the launches of batches of so many addresses, one after the other. */
async function ask(gate: LaunchGate, ...sizes: number[]): Promise<boolean[]> {
  const claims = new LocalClaims();
  const answers: boolean[] = [];
  for (const [id, size] of sizes.entries()) {
    const batch = makeBatch(id, size);
    answers.push(
      await gate.reserve(
        batch,
        claims.claim(batch, planned, () => undefined),
        signal,
      ),
    );
  }
  return answers;
}

describe('LaunchGate', () => {
  it('lets everything be launched where nothing is set', async () => {
    const gate = new LaunchGate();
    expect(await ask(gate, 1e3, 1e3)).toEqual([true, true]);
    expect(gate.closedBy).toBeUndefined();
  });

  it.each([
    ['what runs cannot free enough', 11, () => true],
    ['nothing may wait', 1, () => false],
  ])('closes at the launch that would pass the budget, where %s', async (_, next, mayWait) => {
    const gate = new LaunchGate({ maxCredits: 10, mayWait });
    expect(await ask(gate, 6, 4, next, 0)).toEqual([true, true, false, false]);
    expect(gate.closedBy).toBeInstanceOf(BudgetError);
    expect(gate.closedBy?.message).toMatch(new RegExp(`\\b10\\b.*\\b10\\b.*\\b${next}$`));
    expect(gate.closedBy?.message).toContain('`maxCredits`');
  });

  it('names both types once the budgets of both are used up', async () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    const claims = new LocalClaims();
    const email = makeBatch(0, 11);
    const phones = { ...makeBatch(1, 12), group: { type: 'phone', country: 'US' } } as const;
    for (const batch of [email, phones]) {
      const claim = claims.claim(batch, planned, () => undefined);
      expect(await gate.reserve(batch, claim, signal)).toBe(false);
    }
    expect(gate.closedBy?.message).toMatch(/\bemail\b.* 11;.*\bphone\b.* 12$/);
  });

  describe('lets a launch wait for credits', () => {
    /** A launch of 10 credits is on its way, and one of 5 waits. */
    async function shortOf(maxCredits: number) {
      let waited = 0;
      const gate = new LaunchGate({ maxCredits, onWaited: () => (waited += 1) });
      const claims = new LocalClaims();
      const [first, next] = [makeBatch(0, 10), makeBatch(1, 5)];
      const claimOf = (batch: Batch) => claims.claim(batch, planned, () => undefined);
      const launched = claimOf(first);
      await gate.reserve(first, launched, signal);
      const abort = new AbortController();
      const asked = gate.reserve(next, claimOf(next), abort.signal);
      await setImmediate();
      expect(gate.isShortOf('email')).toBe(true);
      expect(gate.isShortOf('phone')).toBe(false);
      const ends = async (spent: number): Promise<void> => {
        const charge = { spent, refunded: 0, net: spent };
        await launched.record({ batch: first, state: exported, name: 'n', charge });
        gate.noteFreed();
      };
      return { gate, asked, abort, ends, waited: () => waited };
    }

    it.each([
      [7, true],
      [8, false],
    ])('until others have ended: they cost %i of 12', async (spent, isGranted) => {
      const { gate, asked, ends, waited } = await shortOf(12);
      gate.noteFreed();
      await setImmediate();
      expect(waited()).toBe(0);
      await ends(spent);
      expect(await asked).toBe(isGranted);
      expect(waited()).toBe(1);
      expect(gate.isShortOf('email')).toBe(false);
      expect(gate.closedBy === undefined).toBe(isGranted);
    });

    it('until it is closed or aborted', async () => {
      const closed = await shortOf(12);
      closed.gate.close(refusal(402, 'launchBatch'));
      expect(await closed.asked).toBe(false);
      const { abort, asked } = await shortOf(12);
      const reason = new Error('any');
      abort.abort(reason);
      await expect(asked).rejects.toBe(reason);
    });
  });

  it('keeps the first reason for which it was closed, and asks for nothing more', async () => {
    const gate = new LaunchGate();
    const first = new BudgetError('first');
    gate.close(first);
    gate.close(new BudgetError('second'));
    expect(gate.closedBy).toBe(first);
    const reserve = async (): Promise<never> => Promise.reject(new Error('it was asked'));
    expect(await gate.reserve(makeBatch(), { ...anyClaim, reserve }, signal)).toBe(false);
  });

  it('lets nothing be launched while it is held, and goes on where it is let go', async () => {
    const gate = new LaunchGate();
    gate.hold();
    expect(await ask(gate, 1)).toEqual([false]);
    gate.release();
    expect(await ask(gate, 1)).toEqual([true]);
  });

  it.each(['close', 'hold'] as const)(
    'refuses a launch whose credits were being reserved at a %s',
    async (how) => {
      const gate = new LaunchGate();
      const reserved = gate.reserve(
        makeBatch(),
        { ...anyClaim, reserve: async () => ({ isGranted: true, credits: 2 }) },
        signal,
      );
      if (how === 'close') gate.close(refusal(402, 'launchBatch'));
      else gate.hold();
      expect(await reserved).toBe(false);
    },
  );

  it('lets a launch without an answer be repeated, unless the service refused for the money', async () => {
    const launched = makeBatch(0, 2);
    const claim = new LocalClaims().claim(launched, planned, () => undefined);
    await claim.reserve(2);
    const gate = new LaunchGate({ maxCredits: 2 });
    expect(await gate.allowsAgain(launched, claim)).toBe(true);
    await ask(gate, 3);
    expect(gate.closedBy).toBeInstanceOf(BudgetError);
    expect(await gate.allowsAgain(launched, claim)).toBe(true);
    const unpaid = new LaunchGate();
    unpaid.close(refusal(402, 'launchBatch'));
    expect(await unpaid.allowsAgain(launched, claim)).toBe(false);
  });
});

function refused(...sizes: readonly (readonly [sizeBytes: number, addresses: number])[]) {
  const known = new RefusedSizes();
  for (const [sizeBytes, addresses] of sizes) known.note({ sizeBytes, addresses });
  return {
    known,
    covers: (sizeBytes: number, addresses: number) => known.covers({ sizeBytes, addresses }),
  };
}

describe('RefusedSizes', () => {
  it('knows nothing at first', () => {
    expect(refused().covers(2 ** 40, 2 ** 30)).toBe(false);
  });

  it('covers what is at least as large, and only that, whether bytes or rows are counted', () => {
    const { covers } = refused([1000, 50]);
    expect(covers(1000, 50)).toBe(true);
    expect(covers(5000, 51)).toBe(true);
    expect(covers(999, 50)).toBe(false);
    expect(covers(1000, 49)).toBe(false);
  });

  it('learns of smaller ones, and keeps those that differ', () => {
    const { covers } = refused([1000, 50], [500, 60], [400, 20], [2000, 10]);
    expect(covers(400, 20)).toBe(true);
    expect(covers(2000, 10)).toBe(true);
    expect(covers(1999, 19)).toBe(false);
  });

  it('tries refused sizes again when some batches were taken, less often each time it is in vain', () => {
    const { known, covers } = refused([1000, 50], [400, 20]);
    for (const most of [1, 2, 4].map((times) => times * bounds.takenToForget)) {
      for (let taken = 1; taken < most; taken += 1) known.noteTaken();
      expect(covers(400, 20)).toBe(true);
      known.noteTaken();
      expect(covers(5000, 90)).toBe(false);
      // The halves of one batch are one trial.
      known.note({ sizeBytes: 1000, addresses: 50 });
      known.note({ sizeBytes: 400, addresses: 20 });
    }
  });

  it('gives up when single lines are refused one after the other', () => {
    const { known } = refused();
    for (let line = 1; line < bounds.refusedLines; line += 1)
      known.note({ sizeBytes: line, addresses: 1 });
    known.note({ sizeBytes: 100, addresses: 9 });
    expect(known.isHopeless).toBe(false);
    known.noteTaken();
    for (let line = 1; line < bounds.refusedLines; line += 1)
      known.note({ sizeBytes: line, addresses: 1 });
    expect(known.isHopeless).toBe(false);
    known.note({ sizeBytes: 1, addresses: 1 });
    expect(known.isHopeless).toBe(true);
  });
});
