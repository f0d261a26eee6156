import { describe, expect, it } from 'vitest';
import { RunFigures } from '../../../src/cli/terminal/run-figures.js';
import { batchProgress, life, tries } from './batch-life.js';

describe('what is known of a run while it goes', () => {
  it('follows a batch through its stages', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'read', rows: 120, addresses: 100, toSend: 100, batches: 1 }, 0);
    const seen = life.map((state, at) => {
      figures.note(batchProgress(0, state), at);
      return (['uploading', 'preparing', 'verifying', 'exporting'] as const).map((stage) => {
        const { done, batches } = figures.of(stage);
        return batches > 0 ? 'in' : done === 100 ? 'through' : 'before';
      });
    });
    expect(seen).toEqual([
      ['in', 'before', 'before', 'before'],
      ['through', 'in', 'before', 'before'],
      ['through', 'in', 'before', 'before'],
      // It may wait for a person's answer.
      ['through', 'in', 'before', 'before'],
      ['through', 'through', 'in', 'before'],
      ['through', 'through', 'in', 'before'],
      ['through', 'through', 'through', 'in'],
      ['through', 'through', 'through', 'through'],
    ]);
    expect(figures.of('exporting')).toMatchObject({ total: 100, isOver: true });
  });

  it('counts a credit from the moment it may be spent', () => {
    const figures = new RunFigures();
    const spent = life.map((state) => {
      figures.note(batchProgress(0, state), 0);
      return figures.credits().email;
    });
    expect(spent).toEqual([0, 0, 0, 0, 100, 100, 100, 100]);
    expect(figures.launchedCredits).toEqual({ email: 100, phone: 0 });
    expect(figures.launchedBatches).toBe(1);
  });

  it('counts what the service charged once it has verified all, and never as a refund what it did not charge', () => {
    const figures = new RunFigures();
    const charged = { spent: 50, refunded: 12.5, net: 37.5 };
    const credits = life.slice(4).map((state) => {
      figures.note(batchProgress(0, state, charged), 0);
      return figures.credits();
    });
    const most = { email: 100, phone: 0, refunded: 0 };
    const known = { email: 50, phone: 0, refunded: 12.5 };
    expect(credits).toEqual([most, most, known, known]);
    expect(figures.launchedCredits).toEqual({ email: 100, phone: 0 });
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
    expect(figures.launchedCredits.email).toBe(0);
    figures.note(batchProgress(0, { ...failed, launched: true }), 0);
    expect(figures.launchedCredits.email).toBe(100);
    expect(figures.failedBatches).toBe(1);
  });

  describe('the time that is left', () => {
    /** Four batches to send, read within a second. */
    function fourBatches(): RunFigures {
      const figures = new RunFigures();
      figures.note({ stage: 'reading', rows: 50, addresses: 40 }, 0);
      figures.note({ stage: 'read', rows: 500, addresses: 900, toSend: 400, batches: 4 }, 1000);
      return figures;
    }
    const note = (figures: RunFigures, id: number, stages: number, nowMs: number) => {
      for (const state of life.slice(0, stages)) figures.note(batchProgress(id, state), nowMs);
    };

    it('is not guessed while more batches are under way than are at their end', () => {
      const figures = fourBatches();
      for (const id of [0, 1, 2, 3]) note(figures, id, 6, 2000);
      expect(figures.time(60_000)).toEqual({ elapsedMs: 60_000, leftMs: undefined });
      note(figures, 0, 8, 62_000);
      expect(figures.time(62_000).leftMs).toBeUndefined();
      note(figures, 1, 8, 62_000);
      // Two of four in a minute, and one second to write.
      expect(figures.time(62_000).leftMs).toBe(61_000);
    });

    it('is what the rate and the addresses shown beside it make', () => {
      const figures = new RunFigures();
      figures.note({ stage: 'read', rows: 1500, addresses: 1500, toSend: 1500, batches: 15 }, 0);
      for (let id = 0; id < 7; id += 1) note(figures, id, 6, 0);
      for (let id = 0; id < 4; id += 1) note(figures, id, 8, 20_000 + id);
      const nowMs = 44_000;
      const { done, total = 0 } = figures.of('exporting');
      const perSecond = figures.rate('exporting', 'uploading', nowMs) ?? 0;
      expect(figures.time(nowMs).leftMs).toBeCloseTo(((total - done) / perSecond) * 1000);
    });

    it('is measured by what this process does, not by what an earlier one did', () => {
      const figures = fourBatches();
      const [exported] = life.slice(-1);
      if (!exported) throw new Error('a life has an end');
      for (const id of [0, 1]) figures.note(batchProgress(id, exported), 1000);
      note(figures, 2, 8, 1000);
      expect(figures.of('exporting')).toMatchObject({ done: 300, doneHere: 100, total: 400 });
      // One of two batches in ten seconds, and one second to write.
      expect(figures.time(11_000).leftMs).toBe(11_000);
    });

    it('counts small batches like large ones, which take as long', () => {
      const figures = new RunFigures();
      figures.note({ stage: 'reading', rows: 50, addresses: 40 }, 1000);
      figures.note({ stage: 'read', rows: 500, addresses: 109, toSend: 109, batches: 10 }, 1000);
      // A batch of a hundred, and nine of a single address.
      note(figures, 0, 8, 1000);
      expect(figures.time(11_000).leftMs).toBe(90_000);
    });

    it('is that of the rows when all results are there, and none at the end', () => {
      const figures = fourBatches();
      for (const id of [0, 1, 2, 3]) note(figures, id, 8, 2000);
      expect(figures.time(3000).leftMs).toBe(1000);
      figures.note({ stage: 'writing', rows: 100 }, 3000);
      expect(figures.time(5000).leftMs).toBe(8000);
      // The last row is written, but the output is not in its place yet.
      figures.note({ stage: 'writing', rows: 500 }, 9000);
      expect(figures.time(9000).leftMs).toBeUndefined();
      figures.note({ stage: 'written', rows: 500 }, 9000);
      expect(figures.time(9000)).toEqual({ elapsedMs: 9000, leftMs: undefined });
    });
  });

  it('knows how many rows are to be written once they are read', () => {
    const figures = new RunFigures();
    figures.note({ stage: 'reading', rows: 50, addresses: 40 }, 5);
    expect(figures.of('writing')).toMatchObject({ done: 0, total: undefined, sinceMs: undefined });
    figures.note({ stage: 'read', rows: 120, addresses: 100, toSend: 100, batches: 1 }, 6);
    figures.note({ stage: 'writing', rows: 60 }, 7);
    expect(figures.of('reading')).toMatchObject({ done: 120, sinceMs: 5, isOver: true });
    expect(figures.of('writing')).toMatchObject({ done: 60, total: 120, isOver: false });
    figures.note({ stage: 'written', rows: 120 }, 8);
    expect(figures.of('writing')).toMatchObject({ done: 120, isOver: true });
  });
});
