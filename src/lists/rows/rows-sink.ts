import { ConfigurationError } from '../../platform/errors/errors.js';
import { callOrAborted } from '../../platform/waiting/promises.js';
import { plainCell } from './values/kinds.js';
import type { Row } from './chunks/object-chunk.js';
import type { JoinedRows, OpenSinkOptions, Sink } from './sink.js';
import { refuseRepeatedNames, TableRows, tableValidator } from './chunks/table-rows.js';

export interface RowsSinkOptions {
  /**
   * Its name in messages.
   * @default 'rows'
   */
  readonly name?: string | undefined;
}

/**
 * Passes arrays of enriched rows to a function, in order: objects with the input's columns and the added
 * ones, values with their types. The function is awaited; when it throws, so does the run. A run resumed
 * after that, or after a kill, passes all rows again from the first: write them by a key.
 *
 * @throws ConfigurationError without a function
 *
 * @template Output the type of the rows by the caller's word: nothing checks it
 *
 * @example
 * ```ts
 * const verified: string[] = [];
 * const sink = rowsSink<{ email: string; email_valid: boolean | null }>((rows) => {
 *   for (const row of rows) if (row.email_valid) verified.push(row.email);
 * });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * console.log(verified); // [ 'good@sluice.test' ]
 * ```
 */
// The caller's own word for the rows, as with JSON.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function rowsSink<Output extends object = Row>(
  write: (rows: readonly Output[]) => void | Promise<void>,
  { name = 'rows' }: RowsSinkOptions = {},
): Sink {
  if (typeof write !== 'function') {
    throw new ConfigurationError('rowsSink() takes a function, which is given arrays of rows', {
      option: 'write',
    });
  }
  return {
    name,
    async check() {
      // Only the function knows.
    },
    async validate(reading) {
      refuseRepeatedNames(reading.header, 'an object');
      return tableValidator(reading);
    },
    async open(opening) {
      const { header } = opening.reading;
      refuseRepeatedNames(header, 'an object');
      const table = new TableRows(header.length);
      return {
        async write(rows) {
          const objects = objectsOf(rows, opening, table) as object[] as Output[];
          await callOrAborted(() => write(objects), opening.signal);
        },
        async finish() {
          // The function has received all rows.
        },
        async abort() {
          // Rows passed on cannot be taken back.
        },
      };
    },
  };
}

function objectsOf(rows: JoinedRows, opening: OpenSinkOptions, table: TableRows): Row[] {
  const { reading, added } = opening;
  const { chunk, from, to, outcomes, width } = rows;
  return Array.from({ length: to - from }, (_, at) => {
    const cellsOfRow = table.read(chunk, from + at);
    const inputMembers = reading.header.map(
      (name, column) => [name, plainCell(cellsOfRow[column]) ?? null] as const,
    );
    const others = added.flatMap((columns, column) => {
      const cells = opening.cellsOf(outcomes[at * width + column] ?? 0, column);
      return columns.map(({ name }, index) => [name, cells[index] ?? null] as const);
    });
    // Not by assignment: `__proto__` is a name like any other.
    return Object.fromEntries([...inputMembers, ...others]);
  });
}
