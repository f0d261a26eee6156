import { describe, expect, it } from 'vitest';
import { planned } from '../../../src/engine/batches/batch-state.js';
import { LocalClaims } from '../../../src/engine/batches/claim.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import { LaunchGate, RefusedSizes } from '../../../src/engine/driver/launch-limits.js';
import { BudgetError } from '../../../src/platform/errors/errors.js';
import { makeBatch } from './driving.js';
import { refusal } from './fake-service.js';

const anyClaim = new LocalClaims().claim(makeBatch(), planned, () => undefined);

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

  it('closes at the launch that would pass the budget', async () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    expect(await ask(gate, 6, 4, 1, 0)).toEqual([true, true, false, false]);
    expect(gate.closedBy).toBeInstanceOf(BudgetError);
    expect(gate.closedBy?.message).toMatch(/\b10 are reserved .* the next batch needs 1$/);
    expect(gate.closedBy?.message).toContain('`maxCredits`');
  });

  it('keeps the first reason for which it was closed, and asks for nothing more', async () => {
    const gate = new LaunchGate();
    const first = new BudgetError('first');
    gate.close(first);
    gate.close(new BudgetError('second'));
    expect(gate.closedBy).toBe(first);
    const reserve = async (): Promise<never> => Promise.reject(new Error('it was asked'));
    expect(await gate.reserve(makeBatch(), { ...anyClaim, reserve })).toBe(false);
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
      const reserved = gate.reserve(makeBatch(), {
        ...anyClaim,
        reserve: async () => ({ isGranted: true, credits: 2 }),
      });
      if (how === 'close') gate.close(refusal(402, 'launchBatch'));
      else gate.hold();
      expect(await reserved).toBe(false);
    },
  );

  it('lets a launch without an answer be repeated, unless the service refused for the money', async () => {
    const gate = new LaunchGate({ maxCredits: 1 });
    expect(gate.allowsReserved).toBe(true);
    await ask(gate, 2);
    expect(gate.allowsReserved).toBe(true);
    const unpaid = new LaunchGate();
    unpaid.close(refusal(402, 'launchBatch'));
    expect(unpaid.allowsReserved).toBe(false);
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
