import { describe, expect, it } from 'vitest';
import { KeyedMutex } from '../../../src/service/batches/batch-jobs.js';

const soon = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

describe('turns', () => {
  it('let one name act one after another, and others meanwhile', async () => {
    const turns = new KeyedMutex();
    const log: string[] = [];
    const act = (name: string, step: string) =>
      turns.take(name, async () => {
        log.push(`${name}${step} begins`);
        await soon();
        log.push(`${name}${step} ends`);
        return step;
      });
    const results = await Promise.all([act('a', '1'), act('a', '2'), act('b', '1')]);
    expect(results).toEqual(['1', '2', '1']);
    expect(log.filter((line) => line.startsWith('a'))).toEqual([
      'a1 begins',
      'a1 ends',
      'a2 begins',
      'a2 ends',
    ]);
    expect(log.indexOf('b1 begins')).toBeLessThan(log.indexOf('a2 begins'));
  });

  it('go on after one that failed', async () => {
    const turns = new KeyedMutex();
    const failed = turns.take('a', () => Promise.reject(new Error('no')));
    const next = turns.take('a', () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
