import { InputError } from '../../platform/errors/errors.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { notice } from '../../platform/text/notices.js';
import { withoutMissingHeader } from '../csv/dialect/missing-header.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type SourceReading } from '../rows/source.js';
import { SheetReading, type XlsxOptions } from './sheet-reading.js';
import { openWorkbook } from './workbook.js';
import type { XlsxChunk } from './xlsx-chunk.js';

/** One reading of a sheet, which whoever writes another format tells from others by its class. */
export class XlsxReading implements SourceReading<XlsxChunk> {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  readonly chunks: AsyncIterable<XlsxChunk>;
  readonly contentDigest: () => string;

  constructor(parts: {
    readonly header: readonly string[];
    readonly isUnnamed: boolean;
    readonly chunks: AsyncIterable<XlsxChunk>;
    readonly contentDigest: () => string;
  }) {
    this.header = parts.header;
    this.isUnnamed = parts.isUnnamed;
    this.chunks = parts.chunks;
    this.contentDigest = parts.contentDigest;
  }
}

/**
 * Opens one reading of a sheet of an XLSX workbook, or of several under one header, one after the other; the
 * file is closed when that fails.
 *
 * @throws InputError `input_malformed`; ConfigurationError when there is no such sheet, or one has another
 *   header than the first; what `wanted` throws
 */
export async function openXlsx(
  file: RandomFile,
  options: XlsxOptions,
  opening: OpenSourceOptions,
): Promise<SourceReading<XlsxChunk>> {
  const opened: SheetReading[] = [];
  const close = async (): Promise<void> => {
    for (const sheet of opened) sheet.close();
    await file.close();
  };
  try {
    const { sheet: wanted, header: hasHeader = true } = options;
    const workbook = await openWorkbook(file, wanted);
    opening.onSheets?.(workbook.names);
    const empty: string[] = [];
    for (const sheet of workbook.sheets) {
      const label =
        workbook.sheets.length === 1 ? file.name : `${file.name} (${JSON.stringify(sheet.name)})`;
      const reading = new SheetReading(workbook, sheet, { file, label, options, opening });
      opened.push(reading);
      if (await reading.findHeader()) continue;
      if (workbook.sheets.length === 1 || wanted !== 'all') throw reading.emptyError();
      opened.pop();
      empty.push(sheet.name);
    }
    const [first] = opened;
    if (!first)
      throw new InputError(`all sheets of ${file.name} are empty: check what makes the list`);
    const odd = opened.find((sheet) => !sheet.hasHeaderOf(first));
    if (odd) {
      const alike = opened.filter((sheet) => sheet.hasHeaderOf(first));
      throw odd.otherHeaderError(alike.map(({ name }) => name));
    }
    if (empty.length > 0) {
      opening.onNotice?.(notice('sheets_empty', { input: file.name, sheets: empty }));
    }
    const others = workbook.names.filter((name) => name !== first.name);
    // Whoever names a sheet knows that there are others.
    if (others.length > 0 && wanted === undefined) {
      opening.onNotice?.(
        notice('sheets_left_out', { input: file.name, sheet: first.name, others }),
      );
    }
    withoutMissingHeader(opening, first.label, options).wanted(first.header);
    let digest: string | undefined;
    const chunks = async function* (): AsyncGenerator<XlsxChunk> {
      for (const sheet of opened) yield* sheet.chunks();
      digest = await file.digest();
    };
    return new XlsxReading({
      header: first.header,
      isUnnamed: !hasHeader,
      chunks: closableChunks(chunks(), close),
      contentDigest: () => digestAtEnd(digest),
    });
  } catch (error) {
    await close();
    throw error;
  }
}
