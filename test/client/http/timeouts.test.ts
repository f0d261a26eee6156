import { beforeEach, describe, expect, test } from 'vitest';
import { Watchdog, type Awaited } from '../../../src/client/http/timeouts.js';
import { TestClock } from '../../../src/testing/test-clock.js';

describe('a watchdog', () => {
  let clock: TestClock;
  let barks: [Awaited, number][];

  beforeEach(() => {
    clock = new TestClock();
    barks = [];
  });

  function createWatchdog(totalMs?: number): Watchdog {
    return new Watchdog(clock, { totalMs, bark: (...bark) => void barks.push(bark) });
  }

  test('barks once, when what is awaited does not come', async () => {
    createWatchdog().expect('answer', 100);
    await clock.advance(99);
    expect(barks).toEqual([]);
    await clock.advance(1);
    expect(barks).toEqual([['answer', 100]]);
    await clock.advance(1000);
    expect(barks).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  test('begins anew with everything that comes', async () => {
    const dog = createWatchdog();
    for (let round = 0; round < 10; round += 1) {
      dog.expect('body', 100);
      await clock.advance(99);
    }
    expect(barks).toEqual([]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(barks).toEqual([['body', 100]]);
  });

  test('knows a limit that ends sooner than the one before', async () => {
    const dog = createWatchdog();
    dog.expect('connection', 1000);
    dog.expect('answer', 10);
    await clock.advance(10);
    expect(barks).toEqual([['answer', 10]]);
  });

  test('is patient while it is suspended, but for the total', async () => {
    const dog = createWatchdog(500);
    dog.expect('body', 100);
    dog.suspend();
    await clock.advance(499);
    expect(barks).toEqual([]);
    await clock.advance(1);
    expect(barks).toEqual([['total', 500]]);
  });

  test('leaves no timer when it is stopped', async () => {
    const dog = createWatchdog(500);
    dog.expect('body', 100);
    dog.stop();
    dog.expect('body', 100);
    await clock.advance(1000);
    expect(barks).toEqual([]);
    expect(clock.sleeping).toBe(0);
  });
});
