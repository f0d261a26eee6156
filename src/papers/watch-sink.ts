import type { Sink } from '../rows/sink.js';
import { ListFigures } from './report/list-figures.js';

/** The same sink, whose rows are counted on their way into it. */
export function watchSink(sink: Sink, onFigures: (figures: ListFigures) => void): Sink {
  const { name, decides, maxRows } = sink;
  return {
    name,
    ...(decides && { decides }),
    ...(maxRows !== undefined && { maxRows }),
    check: async (verifiedColumns) => sink.check(verifiedColumns),
    ...(sink.examine && {
      examine: (reading, columns) => sink.examine?.(reading, columns),
    }),
    ...(sink.rowsLeftOut && { rowsLeftOut: () => sink.rowsLeftOut?.() ?? 0 }),
    ...(sink.outputs && { outputs: () => sink.outputs?.() ?? [] }),
    ...(sink.leftAlone && { leftAlone: () => sink.leftAlone?.() }),
    mayBeginEarly: async () => (await sink.mayBeginEarly?.()) ?? false,
    async open(opening) {
      const figures = new ListFigures(opening);
      const writing = await sink.open(opening);
      onFigures(figures);
      return {
        async write(rows) {
          figures.add(rows);
          await writing.write(rows);
        },
        finish: async () => writing.finish(),
        abort: async () => writing.abort(),
      };
    },
  };
}
