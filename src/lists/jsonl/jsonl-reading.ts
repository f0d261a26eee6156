import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import { notice } from '../../platform/text/notices.js';
import { JsonColumns } from './json-columns.js';
import { JsonlChunk, type JsonlHeader } from './jsonl-chunk.js';
import { LineFeed, type Lines } from '../files/bytes/line-feed.js';

interface JsonlReadingOptions {
  readonly name: string;
  readonly maxRowBytes: number;
  /** Whether all rows are searched for columns before the first is given. */
  readonly findsAll: boolean;
  readonly reopen?: () => Promise<ByteReader>;
  /** What an earlier reading of the input has found. */
  readonly memory?: JsonlMemory;
}

/** The columns of all rows, once found: later readings have the same. */
export interface JsonlMemory {
  columns?: JsonColumns;
}

/** More top-level names are not columns. */
const maxTopNames = 10_000;
/** More columns are not a table. */
const maxColumns = 16_384;

/** Opens one reading of JSONL with the columns of its first rows, or of all; closes the reader when that fails. */
export async function openJsonl(
  reader: ByteReader,
  options: JsonlReadingOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading<JsonlChunk>> {
  const { name, maxRowBytes } = options;
  const feed = new LineFeed(reader, { name, maxLineBytes: maxRowBytes });
  try {
    const first = await feed.next();
    let known = await columnsToBeginWith(first, options, opening.rows);
    const ask = (names: readonly string[]): readonly number[] => opening.wanted(names);
    let wanted;
    try {
      wanted = ask(known.names);
    } catch (error) {
      // A column that the first rows lack may be in a later one.
      const isMissing = isSluiceError(error, 'column_not_found');
      if (!isMissing || options.memory?.columns || !options.reopen) throw error;
      known = await findAllColumns(options, options.reopen, opening.rows);
      wanted = ask(known.names);
    }
    const header: JsonlHeader = { name, columns: known.all, known };
    const checkNames: NameCheck =
      wanted.length > 0 ? createNameCheck(header, ask, opening) : () => undefined;
    return {
      header: known.names,
      chunks: closableChunks(toChunks(feed, first, header, checkNames), () => feed.close()),
    };
  } catch (error) {
    await feed.close();
    throw error;
  }
}

async function* toChunks(
  feed: LineFeed,
  first: Lines | undefined,
  header: JsonlHeader,
  checkNames: NameCheck,
): AsyncGenerator<JsonlChunk> {
  for (let lines = first; lines !== undefined; lines = await feed.next()) {
    const chunk = new JsonlChunk(lines, header);
    for (let row = 0; row < chunk.length; row += 1) checkNames(chunk, row);
    if (chunk.length > 0) yield chunk;
  }
}

async function columnsToBeginWith(
  first: Lines | undefined,
  options: JsonlReadingOptions,
  rows: number | undefined,
): Promise<JsonColumns> {
  if (options.memory?.columns) return options.memory.columns;
  if (options.findsAll && options.reopen) return findAllColumns(options, options.reopen, rows);
  const columns = new JsonColumns();
  if (first !== undefined) addColumns(first, columns, options.name, rows);
  return columns;
}

async function findAllColumns(
  { name, maxRowBytes, memory }: JsonlReadingOptions,
  reopen: () => Promise<ByteReader>,
  rows = Infinity,
): Promise<JsonColumns> {
  const columns = new JsonColumns();
  const feed = new LineFeed(await reopen(), { name, maxLineBytes: maxRowBytes });
  try {
    for (let left = rows; left > 0;) {
      const lines = await feed.next();
      if (lines === undefined) break;
      left -= addColumns(lines, columns, name, left);
    }
  } finally {
    await feed.close();
  }
  if (memory) memory.columns = columns;
  return columns;
}

function addColumns(lines: Lines, columns: JsonColumns, name: string, most = Infinity): number {
  const chunk = new JsonlChunk(lines, { name, columns: [], known: columns });
  const rows = Math.min(chunk.length, most);
  for (let row = 0; row < rows; row += 1) {
    columns.add(chunk.row(row), () => chunk.json(row));
    if (columns.size <= maxColumns) continue;
    throw new InputError(
      `${name} has more than ${String(maxColumns)} columns, as each name in a nested object is one: what varies from row to row belongs into a list`,
    );
  }
  return rows;
}

type NameCheck = (chunk: JsonlChunk, row: number) => void;

/** Checks the top-level names of each row in the first reading: a late one may be an added column's. */
function createNameCheck(
  { name: input, known }: JsonlHeader,
  ask: (names: readonly string[]) => void,
  opening: OpenSourceOptions,
): NameCheck {
  const header = known.names;
  const names = new Set(header);
  let isSaid = false;
  return (chunk, row) => {
    if (!isSaid && chunk.repeatsName(row)) {
      isSaid = true;
      opening.onNotice?.(notice('repeated_names', { input, line: chunk.line(row) }));
    }
    for (const name of Object.keys(chunk.row(row))) {
      if (names.has(name)) continue;
      names.add(name);
      if (names.size > maxTopNames + header.length) {
        throw new ConfigurationError(
          `the rows of ${input} have more than ${String(maxTopNames)} different names at their top: what varies from row to row belongs into a nested object`,
          { fault: 'too_large' },
        );
      }
      ask([...header, name]);
    }
  };
}
