import { openFileReader, type ByteReader } from '../formats/byte-reader.js';
import { copyToFile } from '../formats/copy-to-file.js';
import type { FilePermissions } from '../rows/file-permissions.js';
import type { OpenSourceOptions, Source } from '../rows/source.js';
import type { TableChunk } from './table-chunk.js';
import { writeTableForm, type TableForm } from './table-form.js';
import { TableReading } from './table-reading.js';

/** The rows that a database gives for a query. */
export interface QueryRows {
  readonly form: TableForm;
  /**
   * The rows in the form of `cell-text.ts`, cut anywhere. Ends only when the last row was given.
   *
   * @throws InputError; the signal's reason, untouched
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Lets go of the database, also when not all was read. Never fails. */
  close(): Promise<void>;
}

export interface TableSourceOptions {
  /** How messages call it; holds no password. */
  readonly name: string;
  readonly query: string;
  /** Where the database is a file. */
  readonly permissions?: () => Promise<FilePermissions>;
  /** @throws InputError, ConfigurationError */
  ask(signal?: AbortSignal): Promise<QueryRows>;
}

/**
 * The rows of a query, read once: what is kept of them stands for the query from then on, because asked
 * again it may well give other rows, or the same in another order.
 */
export function tableSource(options: TableSourceOptions): Source<TableChunk> {
  const { name, query, permissions } = options;
  const source = (
    openReader: (signal?: AbortSignal) => Promise<ByteReader>,
  ): Source<TableChunk> => ({
    name,
    decides: { query },
    ...(permissions && { permissions }),
    async open(opening: OpenSourceOptions) {
      return TableReading.open(await openReader(opening.signal), name, opening);
    },
  });
  const kept = (path: string): Source<TableChunk> =>
    source((signal) => openFileReader(path, name, signal));
  const ask = async (signal?: AbortSignal): Promise<ByteReader> =>
    createRowsReader(await options.ask(signal));
  return {
    ...source(ask),
    isSettledWhenKept: true,
    async keep(path, signal) {
      await copyToFile(path, async () => ask(signal));
      return kept(path);
    },
    kept,
  };
}

function createRowsReader(rows: QueryRows): ByteReader {
  const pieces = rows.bytes[Symbol.asyncIterator]();
  let hasForm = false;
  return {
    async read() {
      if (!hasForm) {
        hasForm = true;
        return writeTableForm(rows.form);
      }
      const step = await pieces.next();
      return step.done === true ? undefined : step.value;
    },
    close: () => rows.close(),
  };
}
