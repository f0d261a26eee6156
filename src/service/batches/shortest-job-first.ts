/** Longest slice of work before others are served: bounds the wait of a status request. */
const sliceMs = 8;

/** Cuts long work into slices, so that the thread serves requests meanwhile. */
interface Slices {
  /** Resolves at once, or after others had their turn; rejects with the signal's reason. */
  pause(): Promise<void>;
  /** Whether the slice is used up: then call `pause`. */
  isOver(): boolean;
}

/** @param nextTurn resolves after others had their turn. @default after waiting requests */
export function createSlices(signal: AbortSignal, nextTurn = afterRequests): Slices {
  let endsAt = performance.now() + sliceMs;
  return {
    isOver: () => performance.now() >= endsAt,
    async pause() {
      await nextTurn();
      signal.throwIfAborted();
      endsAt = performance.now() + sliceMs;
    },
  };
}

/** Resolves when the requests that arrived meanwhile were taken up. */
export async function afterRequests(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/** Schedules work on this thread: the job with the least left goes first. */
export interface ShortestJobFirst {
  /**
   * Runs a job in its turn.
   *
   * @param left how much of it is left, at any time
   * @param work gets a function to call after each slice, which resolves in the job's next turn
   */
  run<Result>(
    left: () => number,
    work: (nextTurn: () => Promise<void>) => Promise<Result>,
  ): Promise<Result>;
}

interface Waiting {
  readonly left: () => number;
  readonly go: () => void;
}

/**
 * Schedules jobs on one thread so that a small one never waits for a large one: with equal shares, jobs begun
 * together would all end late. A job that waits for the disk blocks no other.
 *
 * @param most jobs at once, as each uses memory; one with less than half of the least that any has left is
 * begun all the same, which can happen some twenty times at most
 */
export function createShortestJobFirst(most: number): ShortestJobFirst {
  const underWay = new Set<() => number>();
  const outside: Waiting[] = [];
  const between: Waiting[] = [];

  function letIn(): void {
    for (;;) {
      const next = leastOf(outside);
      if (next === undefined) return;
      const isSmall = Array.from(underWay, (left) => left()).every(
        (left) => next.left() < left / 2,
      );
      if (underWay.size >= most && !isSmall) return;
      underWay.add(next.left);
      outside.splice(outside.indexOf(next), 1);
      next.go();
    }
  }

  function giveTurn(): void {
    const next = leastOf(between);
    if (next === undefined) return;
    between.splice(between.indexOf(next), 1);
    next.go();
    if (between.length > 0) setImmediate(giveTurn);
  }

  return {
    async run(left, work) {
      await new Promise<void>((go) => {
        outside.push({ left, go });
        letIn();
      });
      const nextTurn = () =>
        new Promise<void>((go) => {
          between.push({ left, go });
          if (between.length === 1) setImmediate(giveTurn);
        });
      try {
        return await work(nextTurn);
      } finally {
        underWay.delete(left);
        letIn();
      }
    },
  };
}

/** Among equals, the first. */
function leastOf(waiting: readonly Waiting[]): Waiting | undefined {
  let least: Waiting | undefined;
  for (const one of waiting) {
    if (least === undefined || one.left() < least.left()) least = one;
  }
  return least;
}
