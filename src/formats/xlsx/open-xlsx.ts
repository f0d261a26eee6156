import { InputError } from '../../errors/family.js';
import { isSluiceError } from '../../errors/sluice-error.js';
import { closableChunks } from '../../rows/closable-chunks.js';
import { printValue } from '../../rows/print-value.js';
import type { OpenSourceOptions, SourceReading } from '../../rows/source.js';
import type { RandomFile } from '../../system/random-file.js';
import { XmlTrouble } from './scan-xml.js';
import { readSheetRows, type SheetRow } from './sheet-rows.js';
import { openWorkbook } from './workbook.js';
import { XlsxChunk } from './xlsx-chunk.js';

export interface XlsxOptions {
  /** Whether the first row that has a value names the columns. @default true */
  readonly header?: boolean;
  /** The sheet's name, or its number, counted from 1. @default 1 */
  readonly sheet?: string | number;
}

/**
 * Opens one reading of a sheet of an XLSX workbook; the file is closed when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError when there is no such sheet; what `wanted`
 *   throws
 */
export async function openXlsx(
  file: RandomFile,
  { header: hasHeader = true, sheet = 1 }: XlsxOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading<XlsxChunk>> {
  let rows: ReturnType<typeof readSheetRows> | undefined;
  const close = async (): Promise<void> => {
    // Not waited for: it lets go of what it inflates when it can.
    rows?.return(undefined).catch(() => undefined);
    await file.close();
  };
  try {
    const workbook = await openWorkbook(file, sheet);
    rows = readSheetRows(workbook);
    const sheetRows = rows;
    const first = await nextRows(sheetRows, file);
    const [head] = first ?? [];
    if (first === undefined || head === undefined) {
      throw new InputError(
        `the sheet ${JSON.stringify(workbook.sheetName)} of ${file.name} is empty`,
      );
    }
    const header = namesOf(head, hasHeader);
    opening.wanted(header);
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<XlsxChunk> {
      let some: SheetRow[] | undefined = hasHeader ? first.slice(1) : first;
      while (some !== undefined) {
        if (some.length > 0) yield chunkOf(some, header.length, workbook.sheetName, file);
        some = await nextRows(sheetRows, file);
      }
      digest = await file.digest();
    };
    return {
      header,
      isUnnamed: !hasHeader,
      chunks: closableChunks(chunks(), close),
      contentDigest() {
        if (digest !== undefined) return digest;
        throw new Error('the content is not known before its end was read');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function nextRows(
  rows: AsyncGenerator<SheetRow[]>,
  { name }: RandomFile,
): Promise<SheetRow[] | undefined> {
  try {
    const step = await rows.next();
    return step.done === true ? undefined : step.value;
  } catch (error) {
    if (isSluiceError(error) || !(error instanceof XmlTrouble)) throw error;
    throw new InputError(`${name} cannot be read as XLSX: ${error.message}`);
  }
}

/** Columns without a name of their own are named by their position. */
function namesOf({ values }: SheetRow, hasHeader: boolean): readonly string[] {
  return values.map((value, at) => {
    const name = hasHeader ? printValue(value) : undefined;
    return name === undefined || name === '' ? `#${String(at + 1)}` : name;
  });
}

function chunkOf(
  rows: readonly SheetRow[],
  columns: number,
  sheetName: string,
  { name }: RandomFile,
): XlsxChunk {
  for (const { number, values } of rows) {
    if (values.length <= columns) continue;
    throw new InputError(
      `${name}, row ${String(number)} of the sheet: it has a value in column ${String(values.length)}, and the first row only ${String(columns)} columns; name the column there, or clear the cell`,
      { line: number },
    );
  }
  return new XlsxChunk(
    rows.map(({ values }) => values),
    rows.map(({ formats }) => formats),
    sheetName,
  );
}
