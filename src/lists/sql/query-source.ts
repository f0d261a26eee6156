import { ConfigurationError } from '../../platform/errors/errors.js';
import { openFileReader, type ByteReader } from '../files/bytes/byte-reader.js';
import { copyInput } from '../files/bytes/copy-input.js';
import { permissionsOf } from '../files/outputs/output-path.js';
import { checkOptions } from '../../platform/check-options.js';
import { required, text, url as aUrl } from '../../platform/option-kinds.js';
import { ofLibrary } from '../rows/guarded-ends.js';
import type { OpenSourceOptions, Source } from '../rows/source.js';
import { useConnection, type Connection } from './connection.js';
import { textOfUrl } from '../location.js';
import type { Dialect, QueryRows, Relation } from './dialect.js';
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
export function querySource(
  dialect: Dialect,
  options: { readonly url: string | URL; readonly query: string },
): Source<TableChunk> {
  checkOptions(options, { url: required(aUrl), query: required(text) });
  const url = textOfUrl(options.url);
  const name = dialect.nameOf(url, 'read');
  const file = dialect.fileOf?.(url);
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
    const connect = (): Promise<Connection> => dialect.connect(url, 'read', signal);
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

export function givesNoRows(): ConfigurationError {
  return new ConfigurationError('the query gives no rows: it has to be a statement that does', {
    option: 'query',
    fault: 'empty',
  });
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

/**
 * The ids of the tables that a query names, by itself or through views and functions; `undefined` where one hides
 * its text. What only looks like a name of a table counts too.
 *
 * @param relationsNamed the tables, views and functions with one of these names in lower case, in any schema
 */
async function tablesRead(
  query: string,
  relationsNamed: (names: readonly string[]) => Promise<readonly Relation[]>,
): Promise<readonly string[] | undefined> {
  const tables = new Set<string>();
  const views = new Set<string>();
  const texts = [query];
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    const named = namesIn(text);
    const names = new Set(named.map(([, name]) => name));
    for (const { schema, name, id, definition } of await relationsNamed([...names])) {
      const isNamed = named.some(
        ([of, each]) =>
          each === name.toLowerCase() && (of === undefined || of === schema.toLowerCase()),
      );
      if (!isNamed || views.has(id)) continue;
      if (definition === '') return undefined;
      if (definition === undefined) tables.add(id);
      else {
        views.add(id);
        texts.push(definition);
      }
    }
  }
  return [...tables].toSorted();
}

const identifier = '"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_$]*';
const qualified = new RegExp(`(?:(${identifier})\\s*\\.\\s*)?(${identifier})`, 'gu');

const derived = [
  new RegExp(`\\)\\s*(?:as\\s+)?(${identifier})`, 'giu'),
  new RegExp(`(${identifier})\\s*(?:\\([^()]*\\)\\s*)?as\\s*\\(`, 'giu'),
];

/** The names that a query may give to its own subqueries, in lower case. */
export function derivedNames(query: string): ReadonlySet<string> {
  return new Set(
    derived.flatMap((form) => [...query.matchAll(form)].map(([, name = '']) => bare(name))),
  );
}

/** Everything in a query that may be a name, in lower case, after what it is qualified with. */
function namesIn(text: string): readonly (readonly [of: string | undefined, name: string])[] {
  return [...text.matchAll(qualified)].map(([, of, name = '']) => [
    of === undefined ? undefined : bare(of),
    bare(name),
  ]);
}

function bare(name: string): string {
  const [mark = ''] = name;
  const isQuoted = mark === '"' || mark === '`';
  return (isQuoted ? name.slice(1, -1).replaceAll(mark + mark, mark) : name).toLowerCase();
}
