import type { Sink } from '../lists/rows/sink.js';
import { withMembers } from '../lists/rows/with-members.js';
import { ListFigures } from './page/list-figures.js';

/** The same sink, whose rows are counted on their way into it. */
export function watchSink(sink: Sink, onFigures: (figures: ListFigures) => void): Sink {
  return withMembers(sink, {
    async open(opening) {
      const figures = new ListFigures(opening);
      const writing = await sink.open(opening);
      onFigures(figures);
      return withMembers(writing, {
        async write(rows) {
          figures.add(rows);
          await writing.write(rows);
        },
      });
    },
  });
}
