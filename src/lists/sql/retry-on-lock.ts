import { systemClock } from '../../platform/waiting/clock.js';
import type { Connection } from './connection.js';
import type { DatabaseFailure } from './failure.js';

/** How to wait for a lock that another session holds. */
export interface Waiting {
  /** How messages call the table. */
  readonly name: string;
  readonly failureOf: (error: unknown) => DatabaseFailure;
  readonly onNotice: ((notice: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  /** How long to try. */
  readonly patienceMs: number;
}

/** Pauses between two tries, in which others have their turn. */
const firstPauseMs = 500;
const longestPauseMs = 15_000;
const noticeEveryMs = 60_000;

/**
 * Does what needs locks, again and again as long as another session holds one: who waits for a lock on a
 * whole table keeps everybody else waiting, too, and so it waits a short time, many times.
 *
 * @param work is taken back when it does not get its locks
 */
export async function untilUnlocked(
  { name, failureOf, onNotice, signal, patienceMs }: Waiting,
  connection: Connection,
  work: () => Promise<void>,
): Promise<void> {
  const startedMs = systemClock.now();
  let noticedMs = -Infinity;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      const nowMs = systemClock.now();
      if (failureOf(error).refusal?.kind !== 'locked' || nowMs - startedMs > patienceMs)
        throw error;
      // Where nothing was begun there is nothing to take back.
      await connection.query('ROLLBACK').catch(() => undefined);
      if (nowMs - noticedMs > noticeEveryMs) {
        noticedMs = nowMs;
        onNotice?.(
          `another session holds a lock on ${name}: trying again for up to ${Math.ceil((startedMs + patienceMs - nowMs) / 60_000)} min, in turns, so that nobody has to wait for this run`,
        );
      }
      await systemClock.sleep(pauseMs, signal);
    }
  }
}
