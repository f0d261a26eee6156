import { plainCell } from './kinds.js';
import type { Row } from './object-chunk.js';
import type { JoinedRows, OpenSinkOptions, Sink } from './sink.js';

export interface RowsSinkOptions {
  /**
   * How messages call it.
   * @default 'rows'
   */
  readonly name?: string;
}

/**
 * Gives enriched rows to a function, in order: objects with the input's columns and the added ones,
 * values with their types. It is waited for; when it throws, so does the run.
 *
 * @example
 * ```ts
 * const verified: Row[] = [];
 * const sink = rowsSink((rows) => void verified.push(...rows));
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * console.log(verified.length); // 3
 * ```
 */
export function rowsSink(
  write: (rows: readonly Row[]) => void | Promise<void>,
  { name = 'rows' }: RowsSinkOptions = {},
): Sink {
  return {
    name,
    async check() {
      // Only the function knows.
    },
    open: async (opening) => ({
      async write(rows) {
        await write(objectsOf(rows, opening));
      },
      async finish() {
        // The function has had all rows.
      },
      async abort() {
        // What was given cannot be taken back.
      },
    }),
  };
}

function objectsOf(rows: JoinedRows, opening: OpenSinkOptions): Row[] {
  const { reading, added } = opening;
  const { chunk, from, to, outcomes, width } = rows;
  return Array.from({ length: to - from }, (_, at) => {
    const row = from + at;
    const own = reading.header.map((name, column) => {
      const value = chunk.value ? chunk.value(row, column) : chunk.text(row, column);
      return [name, plainCell(value) ?? null] as const;
    });
    const others = added.flatMap((columns, column) => {
      const cells = opening.cellsOf(outcomes[at * width + column] ?? 0, column);
      return columns.map(({ name }, index) => [name, cells[index] ?? null] as const);
    });
    // Not by assignment: `__proto__` is a name like any other.
    return Object.fromEntries([...own, ...others]);
  });
}
