/** Longest stretch of work before others are served: a status request never waits longer. */
const sliceMs = 8;

/** Cuts long work into slices, so that one thread serves requests meanwhile. */
interface Slices {
  /** Resolves at once, or when others had their turn; rejects with the signal's reason. */
  pause(): Promise<void>;
  /** Whether the slice is used up: then `pause` is due. */
  isOver(): boolean;
}

/** @param nextTurn resolves when others had theirs; by default, when requests had */
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

/** Resolves when the requests that came meanwhile were taken up. */
export async function afterRequests(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/** Work on this thread, of which the one with the least left goes first. */
export interface ShortestJobFirst {
  /**
   * Does a piece of work when its time has come.
   *
   * @param left how much of it is left, at any time
   * @param work is given what it calls after each slice: it resolves when it is its turn again
   */
  run<Result>(
    left: () => number,
    work: (nextTurn: () => Promise<void>) => Promise<Result>,
  ): Promise<Result>;
}

/** Someone who waits; `go` ends that. */
interface Waiting {
  readonly left: () => number;
  readonly go: () => void;
}

/**
 * Orders work on one thread so that little of it never waits behind much: shared out evenly, pieces
 * begun together would all end late together. Who waits for a disk keeps nobody from working.
 *
 * @param most pieces under way at once, because each holds memory; one that has less than half of the
 *   least that any of them has left is begun all the same, which can happen some twenty times at most
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

/** Of those with as much left as each other, the one that came first. */
function leastOf(waiting: readonly Waiting[]): Waiting | undefined {
  let least: Waiting | undefined;
  for (const one of waiting) {
    if (least === undefined || one.left() < least.left()) least = one;
  }
  return least;
}
