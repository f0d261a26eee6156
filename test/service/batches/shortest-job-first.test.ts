import { describe, expect, it } from 'vitest';
import {
  createShortestJobFirst,
  type ShortestJobFirst,
} from '../../../src/service/batches/shortest-job-first.js';

/** Work of so many slices, one number smaller with each; tells when it begins and ends. */
function begin(work: ShortestJobFirst, name: string, slices: number, log: string[]): Promise<void> {
  let left = slices;
  return work.run(
    () => left,
    async (nextTurn) => {
      log.push(`${name} begins`);
      for (; left > 0; left -= 1) await nextTurn();
      log.push(`${name} ends`);
    },
  );
}

const ends = (log: readonly string[]) => log.filter((line) => line.endsWith('ends'));

describe('work of which the least goes first', () => {
  it('is ended in the order of what is left, not shared out', async () => {
    const log: string[] = [];
    const work = createShortestJobFirst(4);
    const sizes = { huge: 500, large: 100, small: 10, middle: 30 };
    await Promise.all(
      Object.entries(sizes).map(([name, slices]) => begin(work, name, slices, log)),
    );
    expect(ends(log)).toEqual(['small ends', 'middle ends', 'large ends', 'huge ends']);
  });

  it('is ended one after another when there is as much of each', async () => {
    const log: string[] = [];
    const work = createShortestJobFirst(2);
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => begin(work, name, 20, log)));
    expect(ends(log)).toEqual(['a ends', 'b ends', 'c ends', 'd ends']);
    // The third is let in only when the first has ended.
    expect(log.indexOf('c begins')).toBeGreaterThan(log.indexOf('a ends'));
  });

  it('lets little in though all places are taken by much, and not what is as large', async () => {
    const log: string[] = [];
    const work = createShortestJobFirst(1);
    const all = [begin(work, 'huge', 200, log), begin(work, 'huge too', 150, log)];
    all.push(begin(work, 'small', 5, log));
    await Promise.all(all);
    expect(log).toEqual([
      'huge begins',
      'small begins',
      'small ends',
      'huge ends',
      'huge too begins',
      'huge too ends',
    ]);
  });

  it('goes on when some of it fails, or waits for something else than its turn', async () => {
    const log: string[] = [];
    const work = createShortestJobFirst(2);
    let wake = () => {};
    const waits = work.run(
      () => 1,
      async () => {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      },
    );
    const failed = work.run(
      () => 1,
      () => Promise.reject(new Error('no')),
    );
    await expect(failed).rejects.toThrow('no');
    await begin(work, 'other', 5, log);
    wake();
    await waits;
    expect(log).toEqual(['other begins', 'other ends']);
  });
});
