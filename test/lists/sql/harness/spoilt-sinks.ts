import type { Sink } from '../../../../src/index.js';

/** A sink whose process ends when its output stands, and before anybody has written that down. */
export function dieBehind(sink: Sink, killed: Error): Sink {
  return {
    ...sink,
    async open(opening) {
      const writing = await sink.open(opening);
      return {
        write: (rows) => writing.write(rows),
        abort: () => writing.abort(),
        async finish() {
          await writing.finish();
          throw killed;
        },
      };
    },
  };
}

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
