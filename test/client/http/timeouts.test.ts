import { beforeEach, describe, expect, test } from 'vitest';
import { Watchdog, type Awaiting } from '../../../src/client/http/timeouts.js';
import { TestClock } from '../../../src/testing/test-clock.js';

describe('a watchdog', () => {
  let clock: TestClock;
  let timeouts: [Awaiting, number][];

  beforeEach(() => {
    clock = new TestClock();
    timeouts = [];
  });

  function createWatchdog(totalMs?: number): Watchdog {
    return new Watchdog(clock, { totalMs, onTimeout: (...timeout) => void timeouts.push(timeout) });
  }

  test('reports once, when what is awaited does not come', async () => {
    createWatchdog().expect('answer', 100);
    await clock.advance(99);
    expect(timeouts).toEqual([]);
    await clock.advance(1);
    expect(timeouts).toEqual([['answer', 100]]);
    await clock.advance(1000);
    expect(timeouts).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  test('starts again with all that comes', async () => {
    const dog = createWatchdog();
    for (let round = 0; round < 10; round += 1) {
      dog.expect('body', 100);
      await clock.advance(99);
    }
    expect(timeouts).toEqual([]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(timeouts).toEqual([['body', 100]]);
  });

  test('knows a limit that ends sooner than the one before', async () => {
    const dog = createWatchdog();
    dog.expect('connection', 1000);
    dog.expect('answer', 10);
    await clock.advance(10);
    expect(timeouts).toEqual([['answer', 10]]);
  });

  test('is patient while it is suspended, but for the total', async () => {
    const dog = createWatchdog(500);
    dog.expect('body', 100);
    dog.suspend();
    await clock.advance(499);
    expect(timeouts).toEqual([]);
    await clock.advance(1);
    expect(timeouts).toEqual([['total', 500]]);
  });

  test('leaves no timer when it is stopped', async () => {
    const dog = createWatchdog(500);
    dog.expect('body', 100);
    dog.stop();
    dog.expect('body', 100);
    await clock.advance(1000);
    expect(timeouts).toEqual([]);
    expect(clock.sleeping).toBe(0);
  });
});
