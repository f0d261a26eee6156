import type { RowChunk } from './row-chunk.js';

/**
 * Chunks whose source is closed when they end, fail, or are not wanted any more; even when they were
 * never asked for, where a generator's own `finally` would not run.
 */
export function closableChunks<Chunk extends RowChunk>(
  chunks: AsyncIterator<Chunk, unknown>,
  close: () => Promise<void>,
): AsyncIterableIterator<Chunk> {
  return {
    async next() {
      let step;
      try {
        step = await chunks.next();
      } catch (error) {
        await close();
        throw error;
      }
      if (step.done !== true) return { done: false, value: step.value };
      await close();
      return { done: true, value: undefined };
    },
    async return() {
      // First: whoever waits for bytes that may never come is not to be waited for.
      await close();
      await chunks.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
