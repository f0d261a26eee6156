/** Longest stretch of work before others are served: a status request never waits longer. */
const sliceMs = 8;

/** Cuts long work into slices, so that one thread serves requests meanwhile. */
export interface Slices {
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
