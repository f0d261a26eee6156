import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LaunchGate } from '../../src/batches/launch-gate.js';
import { BudgetError } from '../../src/errors/family.js';
import { refusal } from './fake-service.js';

describe('LaunchGate', () => {
  it('lets everything through without a budget', () => {
    const gate = new LaunchGate();
    expect(gate.reserve('email', 1e9)).toBe(true);
    expect(gate.reserve('email', 1e9)).toBe(true);
    expect(gate.closedBy).toBeUndefined();
  });

  it('lets the budget be used to the last credit, and no further', () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    expect(gate.reserve('email', 6)).toBe(true);
    expect(gate.reserve('email', 4)).toBe(true);
    expect(gate.reserve('email', 1)).toBe(false);
    expect(gate.closedBy).toBeInstanceOf(BudgetError);
    expect(gate.closedBy?.message).toContain('11 email credits');
    expect(gate.closedBy?.message).toContain('--max-credits');
  });

  it('has a budget for each type', () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    expect(gate.reserve('email', 10)).toBe(true);
    expect(gate.reserve('phone', 10)).toBe(true);
    expect(gate.reserve('phone', 1)).toBe(false);
  });

  it('takes a launch back that was not carried out', () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    expect(gate.reserve('email', 10)).toBe(true);
    gate.release('email', 10);
    expect(gate.reserve('email', 10)).toBe(true);
  });

  it('counts what earlier processes used, even beyond the budget', () => {
    const gate = new LaunchGate({ maxCredits: 10 });
    gate.count('email', 12);
    expect(gate.closedBy).toBeUndefined();
    expect(gate.reserve('email', 1)).toBe(false);
    expect(gate.reserve('phone', 1)).toBe(false);
  });

  it('stays closed, by the first reason', () => {
    const gate = new LaunchGate();
    const first = refusal(402, 'launchBatch');
    gate.close(first);
    gate.close(new BudgetError('second'));
    expect(gate.closedBy).toBe(first);
    expect(gate.reserve('email', 0)).toBe(false);
  });

  it('lets a launch be asked for again when only the budget closed it', () => {
    const gate = new LaunchGate({ maxCredits: 1 });
    expect(gate.allowsReserved).toBe(true);
    gate.reserve('email', 2);
    expect(gate.allowsReserved).toBe(true);
    const unpaid = new LaunchGate();
    unpaid.close(refusal(402, 'launchBatch'));
    expect(unpaid.allowsReserved).toBe(false);
  });

  it('never has more reserved than the budget', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.array(fc.integer({ min: -30, max: 30 })), (maxCredits, steps) => {
        const gate = new LaunchGate({ maxCredits });
        const reserved: number[] = [];
        for (const step of steps) {
          if (step > 0 && gate.reserve('email', step)) reserved.push(step);
          const released = step < 0 ? reserved.pop() : undefined;
          if (released !== undefined) gate.release('email', released);
          const sum = reserved.reduce((total, credits) => total + credits, 0);
          expect(sum).toBeLessThanOrEqual(maxCredits);
        }
      }),
    );
  });
});
