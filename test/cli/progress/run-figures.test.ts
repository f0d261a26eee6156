import { describe, expect, it } from 'vitest';
import { RunFigures } from '../../../src/cli/progress/run-figures.js';
import { batchProgress, life, tries } from './batch-life.js';

describe('what is known of a run while it goes', () => {
  it('follows a batch through its stages', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'read', rows: 120, addresses: 100, batches: 1 }, 0);
    const seen = life.map((known, at) => {
      figures.note(batchProgress(0, known), at);
      return (['uploading', 'preparing', 'verifying', 'exporting'] as const).map((stage) => {
        const { done, batches } = figures.of(stage);
        return batches > 0 ? 'in' : done === 100 ? 'through' : 'before';
      });
    });
    expect(seen).toEqual([
      ['in', 'before', 'before', 'before'],
      ['through', 'in', 'before', 'before'],
      ['through', 'in', 'before', 'before'],
      ['through', 'through', 'in', 'before'],
      ['through', 'through', 'in', 'before'],
      ['through', 'through', 'in', 'before'],
      ['through', 'through', 'through', 'in'],
      ['through', 'through', 'through', 'through'],
    ]);
    expect(figures.of('exporting')).toMatchObject({ total: 100, isOver: true });
  });

  it('counts a credit from the moment it may be spent, and what was given back', () => {
    const figures = new RunFigures();
    const exported = life[7];
    if (!exported) throw new Error('a life has eight stages');
    const spent = life.map((known) => {
      figures.note(batchProgress(0, known), 0);
      return figures.credits().launched.email;
    });
    expect(spent).toEqual([0, 0, 0, 0, 100, 100, 100, 100]);
    figures.note(batchProgress(1, exported, { spent: 100, refunded: 25, net: 75 }), 0);
    expect(figures.credits()).toEqual({ launched: { email: 200, phone: 0 }, refunded: 25 });
    expect(figures.launchedBatches).toBe(2);
  });

  it('counts the parts of a batch that was split in its place', () => {
    const figures = new RunFigures();
    figures.note(batchProgress(0, { stage: 'split', uuid: undefined, ...tries }), 0);
    expect(figures.of('uploading').done).toBe(0);
  });

  it('counts a failed batch as through, and as paid only when it was launched', () => {
    const figures = new RunFigures();
    const failed = {
      stage: 'failed',
      reason: 'internal_error',
      uuid: undefined,
      ...tries,
    } as const;
    figures.note(batchProgress(0, { ...failed, launched: false }), 0);
    expect(figures.of('exporting').done).toBe(100);
    expect(figures.credits().launched.email).toBe(0);
    figures.note(batchProgress(0, { ...failed, launched: true }), 0);
    expect(figures.credits().launched.email).toBe(100);
    expect(figures.failedBatches).toBe(1);
  });

  it('knows how many rows are to be written once they are read', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'reading', rows: 50, addresses: 40 }, 5);
    expect(figures.of('writing')).toMatchObject({ done: 0, total: undefined, sinceMs: undefined });
    figures.note({ stage: 'read', rows: 120, addresses: 100, batches: 1 }, 6);
    figures.note({ stage: 'writing', rows: 60 }, 7);
    expect(figures.of('reading')).toMatchObject({ done: 120, sinceMs: 5, isOver: true });
    expect(figures.of('writing')).toMatchObject({ done: 60, total: 120, isOver: false });
    figures.note({ stage: 'written', rows: 120 }, 8);
    expect(figures.of('writing')).toMatchObject({ done: 120, isOver: true });
  });
});
