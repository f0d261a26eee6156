import { ConfigurationError } from '../../platform/errors/errors.js';
import { openFileReader, type ByteReader } from '../files/bytes/byte-reader.js';
import { copyInput } from '../files/bytes/copy-input.js';
import { permissionsOf } from '../files/outputs/output-path.js';
import { checkOptions } from '../../platform/check-options.js';
import { required, text } from '../../platform/option-kinds.js';
import { ofLibrary } from '../rows/guarded-ends.js';
import type { OpenSourceOptions, Source } from '../rows/source.js';
import { useConnection, type Connection } from './connection.js';
import type { Dialect, QueryRows } from './dialect.js';
import { tablesRead } from './tables-read.js';
import { readingRefuser, type Refuse } from './database-failure.js';
import {
  type TableChunk,
  writeTableForm,
  type TableForm,
  TableReading,
} from './tables/table-reading.js';

/**
 * The rows of a query, over a connection of its own that is opened for reading. They are read once: a kept
 * copy then stands for the query, which may give other rows or another order the next time.
 */
export function querySource<Database extends Connection>(
  dialect: Dialect<Database>,
  options: { readonly url: string; readonly query: string },
): Source<TableChunk> {
  checkOptions(options, { url: required(text), query: required(text) });
  const name = dialect.nameOf(options.url, 'read');
  const file = dialect.fileOf?.(options.url);
  const query = options.query.trim().replace(/;$/, '');
  const source = (
    openReader: (signal?: AbortSignal) => Promise<ByteReader>,
  ): Source<TableChunk> => ({
    ...ofLibrary,
    name,
    decides: { query },
    ...(file !== undefined && { permissions: () => permissionsOf(file) }),
    async open(opening: OpenSourceOptions) {
      return TableReading.open(await openReader(opening.signal), name, opening);
    },
  });
  const kept = (path: string): Source<TableChunk> =>
    source((signal) => openFileReader(path, name, signal));
  const ask = async (signal?: AbortSignal): Promise<ByteReader> => {
    signal?.throwIfAborted();
    const connect = (): Promise<Database> => dialect.connect(options.url, 'read', signal);
    const refuse = readingRefuser(name, dialect.failureOf, signal);
    return useConnection(connect, refuse, async (connection) => {
      const asTable = `(${query}\n)`;
      const reads = await tablesRead(query, (names) => dialect.relationsNamed(connection, names));
      const { columns, bytes } = await dialect.ask(connection, { query, asTable, connect, signal });
      const form = {
        dialect: dialect.name,
        store: connection.store,
        columns: [...columns],
        ...(reads && { reads: [...reads] }),
      };
      return createRowsReader(connection, form, bytes, refuse);
    });
  };
  return {
    ...source(ask),
    async keep(path, signal, rows) {
      const openReading = (reader: ByteReader) =>
        TableReading.open(reader, name, { wanted: () => [] });
      await copyInput(path, () => ask(signal), openReading, rows);
      return kept(path);
    },
    kept,
  };
}

/** The error for a query that returns no rows. */
export function givesNoRows(): ConfigurationError {
  return new ConfigurationError('the query gives no rows: it has to be a statement that does');
}

function createRowsReader(
  connection: Connection,
  form: TableForm,
  bytes: QueryRows['bytes'],
  refuse: Refuse,
): ByteReader {
  const pieces = bytes[Symbol.asyncIterator]();
  let hasForm = false;
  return {
    async read() {
      if (!hasForm) {
        hasForm = true;
        return writeTableForm(form);
      }
      const step = await pieces.next().catch(refuse);
      return step.done === true ? undefined : step.value;
    },
    close: () => connection.close(),
  };
}
