import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import { notice } from '../../platform/text/notices.js';
import { optionName } from '../../platform/text/sentence.js';
import { withoutMissingHeader } from '../csv/dialect/find-header-row.js';
import { type ColumnMap, caseless, combineHeaders } from '../rows/sources/combine-headers.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type SourceReading } from '../rows/source.js';
import { keepOtherSheets } from './kept-workbook.js';
import type { FileOptions } from '../files/file-format.js';
import { SheetReading, type XlsxChunk } from './sheet-reading.js';
import { openWorkbook, type SheetTable, type Workbook } from './workbook.js';

export interface XlsxReading extends SourceReading<XlsxChunk> {
  readonly tables: readonly SheetTable[];
  /** How the workbook's other sheets stay in an output. Must be called before the rows are read. */
  keepOthers(): ReturnType<typeof keepOtherSheets>;
}

export function isXlsxReading(reading: SourceReading): reading is XlsxReading {
  return 'keepOthers' in reading;
}

/**
 * Opens one reading of a sheet of an XLSX workbook, or of several under a combined header, those with the
 * same header together; closes the file when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError for an unknown sheet, or one without a required
 * column; errors of `wanted`
 */
export async function openXlsx(
  file: RandomFile,
  options: FileOptions,
  opening: OpenSourceOptions,
): Promise<XlsxReading> {
  const opened: SheetReading[] = [];
  const close = async (): Promise<void> => {
    for (const sheet of opened) sheet.close();
    await file.close();
  };
  try {
    const workbook = await openWorkbook(file, options.sheet);
    opening.onSheets?.(workbook.names);
    const context = { file, options, opening };
    const empty = await openSheets(workbook, context, opened);
    const isUnnamed = options.header === false;
    const list = combineSheets(opened, isUnnamed, (header) => hasWanted(header, opening));
    const report = (
      kind: 'sheets_empty' | 'sheets_hidden' | 'sheets_joined',
      sheets: readonly string[],
      least = 1,
    ): void => {
      if (sheets.length >= least) opening.onNotice?.(notice(kind, { input: file.name, sheets }));
    };
    report('sheets_empty', empty);
    for (const { sheets } of list.tables) report('sheets_joined', sheets, 2);
    for (const { reading } of list.parts) {
      const { label, header } = reading;
      withoutMissingHeader({ ...opening, wanted: () => [] }, label, options).wanted(header);
    }
    const wanted = await chooseColumns(list.header, workbook.names, opened[0]?.name ?? '', context);
    const hidden = workbook.sheets.filter(
      ({ name, isHidden }) => isHidden && !empty.includes(name),
    );
    report(
      'sheets_hidden',
      hidden.map(({ name }) => name),
    );
    refuseLacking(list, opening.needed?.(list.header) ?? wanted);
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<XlsxChunk> {
      for (const { reading, map } of list.parts) yield* reading.chunks(map);
      digest = await file.digest();
    };
    return {
      header: list.header,
      isUnnamed,
      chunks: closableChunks(chunks(), close),
      contentDigest: () => digestAtEnd(digest),
      tables: list.tables,
      keepOthers: async () => keepOtherSheets(workbook, list.tables),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type SheetContext = Omit<ConstructorParameters<typeof SheetReading>[2], 'label'>;

/** Opens the wanted sheets up to their headers. @param opened gets those with rows @returns the names of the others */
async function openSheets(
  workbook: Workbook,
  context: SheetContext,
  opened: SheetReading[],
): Promise<readonly string[]> {
  const { file, options } = context;
  const isOnly = workbook.sheets.length === 1;
  const empty: string[] = [];
  for (const sheet of workbook.sheets) {
    const label = isOnly ? file.name : `${file.name} (${JSON.stringify(sheet.name)})`;
    const reading = new SheetReading(workbook, sheet, { ...context, label });
    opened.push(reading);
    if (await reading.findHeader()) continue;
    if (isOnly || options.sheet !== 'all') throw reading.emptyError();
    opened.pop();
    empty.push(sheet.name);
  }
  if (opened.length > 0) return empty;
  throw new InputError(`all sheets of ${file.name} are empty: check what makes the list`, {
    fault: 'empty',
  });
}

/** Whoever names a sheet knows that there are others; the first one is taken with a notice of them. */
async function chooseColumns(
  header: readonly string[],
  names: readonly string[],
  sheet: string,
  context: SheetContext,
): Promise<readonly number[]> {
  const { file, options, opening } = context;
  const others = options.sheet === undefined ? names.filter((name) => name !== sheet) : [];
  let wanted: readonly number[];
  try {
    wanted = opening.wanted(header);
  } catch (error) {
    throw others.length > 0 ? await withSheetOf(error, others, context) : error;
  }
  if (others.length > 0) {
    opening.onNotice?.(notice('sheets_left_out', { input: file.name, sheet, others }));
  }
  return wanted;
}

interface SheetList {
  readonly header: readonly string[];
  /** Sheets of one table together. */
  readonly parts: readonly {
    readonly reading: SheetReading;
    readonly map: ColumnMap | undefined;
  }[];
  readonly tables: readonly SheetTable[];
}

function hasWanted(header: readonly string[], opening: OpenSourceOptions): boolean {
  try {
    opening.wanted(header);
    return true;
  } catch {
    return false;
  }
}

/** Those that share a column with the first. */
function alikeOf(sheets: readonly SheetReading[]): readonly SheetReading[] {
  const names = new Set(sheets[0]?.header.map(caseless));
  return sheets.filter(({ header }) => header.some((name) => names.has(caseless(name))));
}

/** @throws ConfigurationError where a sheet shares no column with the first; it names those with what is wanted */
function combineSheets(
  sheets: readonly SheetReading[],
  isUnnamed: boolean,
  isWanted: (header: readonly string[]) => boolean,
): SheetList {
  if (alikeOf(sheets).length < sheets.length) {
    const wanted = sheets.filter(({ header }) => isWanted(header));
    const alike = alikeOf(wanted.length > 0 ? wanted : sheets);
    const odd = sheets.find((sheet) => !alike.includes(sheet));
    const names = alike.map(({ name }) => name);
    if (odd) throw odd.otherListError(`that the sheet ${JSON.stringify(names[0])} has`, names);
  }
  const { header, maps } = combineHeaders(
    sheets.map((sheet) => ({ name: sheet.label, header: sheet.header, isUnnamed })),
  );
  const tables = new Map<string, SheetReading[]>();
  for (const sheet of sheets) {
    const key = JSON.stringify(sheet.header.map(caseless));
    tables.set(key, [...(tables.get(key) ?? []), sheet]);
  }
  const mapOf = (sheet: SheetReading): ColumnMap | undefined => maps[sheets.indexOf(sheet)];
  return {
    header,
    parts: [...tables.values()].flat().map((reading) => ({ reading, map: mapOf(reading) })),
    tables: [...tables.values()].flatMap((alike) => {
      const [one] = alike;
      if (!one) return [];
      const columns = one.header.map((_, at) => mapOf(one)?.indexOf(at) ?? at);
      return [
        {
          sheets: alike.map(({ name }) => name),
          header: one.header,
          columns,
          isBelow: one.isBelow,
        },
      ];
    }),
  };
}

function refuseLacking({ header, parts, tables }: SheetList, needed: readonly number[]): void {
  const lackedBy = (map: ColumnMap | undefined) =>
    map && needed.find((column) => map[column] === -1);
  for (const { reading, map } of parts) {
    const lacked = lackedBy(map);
    if (lacked === undefined) continue;
    const others = parts.filter((part) => lackedBy(part.map) === undefined);
    // Where none has all, those of one header belong together.
    const names = others.length > 0 ? others.map((part) => part.reading.name) : tables[0]?.sheets;
    throw reading.otherListError(JSON.stringify(header[lacked]), names ?? []);
  }
}

/** Names another sheet with the columns that the first lacks. */
async function withSheetOf(
  error: unknown,
  others: readonly string[],
  of: SheetContext,
): Promise<unknown> {
  if (!isSluiceError(error, 'column_not_found')) return error;
  const hasColumns = async (name: string): Promise<boolean> => {
    const workbook = await openWorkbook(of.file, name);
    const [sheet] = workbook.sheets;
    if (!sheet) return false;
    // Without notices: the sheet is only examined.
    const opening = { wanted: () => [] };
    const reading = new SheetReading(workbook, sheet, { ...of, label: of.file.name, opening });
    try {
      if (!(await reading.findHeader())) return false;
      of.opening.wanted(reading.header);
      return true;
    } finally {
      reading.close();
    }
  };
  for (const name of others) {
    if (!(await hasColumns(name).catch(() => false))) continue;
    return new ConfigurationError(
      `${error.message}; the sheet ${JSON.stringify(name)} has what is wanted: name it with ${optionName('sheet')}`,
      { code: 'column_not_found', option: 'sheet', column: error.column },
    );
  }
  return error;
}
