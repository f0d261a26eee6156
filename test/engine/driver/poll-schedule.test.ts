import { describe, expect, it } from 'vitest';
import type { BatchState } from '../../../src/engine/batches/batch-state.js';
import { PollEstimator } from '../../../src/engine/driver/poll-learning.js';
import { PollSchedule } from '../../../src/engine/driver/poll-schedule.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { stateOf } from '../batches/any-event.js';

const { signal } = new AbortController();

const timed = { type: 'email', addresses: 1000 } as const;

/** A wait with a clock of its own, which only it moves. */
function waitIn(state: BatchState, batchDeadlineMs = 1e9, pace?: PollEstimator) {
  const clock = new TestClock();
  const options = {
    clock,
    random: () => 0,
    pollIntervalMs: 1000,
    batchDeadlineMs,
    ...(pace && { pace }),
  };
  const wait = new PollSchedule(state, timed, options);
  return {
    clock,
    wait,
    /** How long the next wait is; `undefined` past the deadline. */
    async next(): Promise<number | undefined> {
      const from = clock.now();
      const isInTime = await clock.runUntil(wait.next(signal));
      return isInTime ? clock.now() - from : undefined;
    },
  };
}

describe('PollSchedule', () => {
  it('ends with the reason of the stop, though another batch tells something at that moment', async () => {
    const pace = new PollEstimator(1000);
    const { wait } = waitIn(stateOf.uploaded, 1e9, pace);
    wait.note(stateOf.parsing);
    const stop = new AbortController();
    const waiting = wait.next(stop.signal);
    const other = pace.begin('parsing', timed);
    other.look(10);
    other.end(true);
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('grows for as long as a batch gets no further', async () => {
    const { wait, next } = waitIn(stateOf.parsing);
    expect([await next(), await next()]).toEqual([1000, 1500]);
    wait.note(stateOf.parsing);
    expect(await next()).toBe(2250);
  });

  it('begins anew when it gets further', async () => {
    const { wait, next } = waitIn(stateOf.parsing);
    expect([await next(), await next()]).toEqual([1000, 1500]);
    wait.note(stateOf.ready);
    expect([await next(), await next()]).toEqual([1000, 1500]);
    wait.note(stateOf.verifying);
    expect(await next()).toBe(1000);
  });

  it('does not begin anew when it steps back and comes again', async () => {
    const { wait, next } = waitIn(stateOf.launching);
    expect(await next()).toBe(1000);
    for (const stage of ['parsing', 'ready', 'launching'] as const) wait.note(stateOf[stage]);
    expect(await next()).toBe(1500);
    for (const stage of ['uploaded', 'parsing'] as const) wait.note(stateOf[stage]);
    expect(await next()).toBe(2250);
  });

  it('begins anew with a fresh upload', async () => {
    const { wait, next } = waitIn(stateOf.parsing);
    expect([await next(), await next()]).toEqual([1000, 1500]);
    wait.note({ ...stateOf.planned, attempt: 2, fresh: 1 });
    expect(await next()).toBe(1000);
    wait.note({ ...stateOf.parsing, attempt: 2, fresh: 1 });
    expect(await next()).toBe(1000);
  });

  it('ends at the deadline, with a last poll right there', async () => {
    const { clock, next } = waitIn(stateOf.parsing, 3000);
    expect([await next(), await next(), await next(), await next()]).toEqual([
      1000,
      1500,
      500,
      undefined,
    ]);
    expect(clock.now()).toBe(3000);
  });

  it('has the whole deadline for each stage', async () => {
    const { wait, next } = waitIn(stateOf.parsing, 1200);
    expect([await next(), await next(), await next()]).toEqual([1000, 200, undefined]);
    wait.note(stateOf.ready);
    expect([await next(), await next(), await next()]).toEqual([1000, 200, undefined]);
    wait.note(stateOf.parsing);
    wait.note(stateOf.launching);
    expect(await next()).toBeUndefined();
  });

  it('looks first when others of its run were through, and then after waits that grow', async () => {
    const pace = new PollEstimator(1000);
    const earlier = pace.begin('parsing', timed);
    earlier.look(4099);
    earlier.miss();
    earlier.look(4100);
    earlier.end(true);
    const { wait, next } = waitIn(stateOf.uploaded, 1e9, pace);
    wait.note(stateOf.parsing);
    expect([await next(), await next(), await next()]).toEqual([4130, 1032.5, 1290.625]);
  });

  it('looks as soon as another batch tells that it is time, but not twice within the interval', async () => {
    const pace = new PollEstimator(1000);
    const other = pace.begin('parsing', timed);
    const { clock, wait, next } = waitIn(stateOf.uploaded, 1e9, pace);
    wait.note(stateOf.parsing);
    await next();
    expect(await next()).toBe(1000);
    const lookedMs = clock.now();
    const waiting = wait.next(signal);
    other.look(lookedMs + 200);
    other.end(true);
    await clock.runUntil(waiting);
    expect(clock.now() - lookedMs).toBe(1000);
  });

  it('does not look again before the time at which another batch was through', async () => {
    const pace = new PollEstimator(1000);
    const other = pace.begin('parsing', timed);
    const { clock, wait, next } = waitIn(stateOf.uploaded, 1e9, pace);
    wait.note(stateOf.parsing);
    await next();
    other.look(7999);
    other.miss();
    other.look(8000);
    other.end(true);
    await next();
    expect(clock.now()).toBe(8030);
    expect(await next()).toBe(2007.5);
  });

  it('looks after five minutes, for all that others tell', async () => {
    const pace = new PollEstimator(1000);
    const earlier = pace.begin('parsing', timed);
    earlier.look(999_999);
    earlier.miss();
    earlier.look(1_000_000);
    earlier.end(true);
    const { wait, next } = waitIn(stateOf.uploaded, 1e9, pace);
    wait.note(stateOf.parsing);
    expect([await next(), await next(), await next(), await next(), await next()]).toEqual([
      300_000, 300_000, 300_000, 100_030, 30_000,
    ]);
  });

  it('ends with the reason of an abort', async () => {
    const { wait, clock } = waitIn(stateOf.parsing);
    const abort = new AbortController();
    const waiting = expect(wait.next(abort.signal)).rejects.toBe('stop');
    abort.abort('stop');
    await waiting;
    expect(clock.sleeping).toBe(0);
  });
});
