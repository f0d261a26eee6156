import type { Sink } from '../../../src/index.js';

/** A sink whose table somebody else changes after the rows were read, and before they are written. */
export function changeFirst(sink: Sink, change: () => unknown): Sink {
  return {
    ...sink,
    async open(opening) {
      await change();
      return sink.open(opening);
    },
  };
}
