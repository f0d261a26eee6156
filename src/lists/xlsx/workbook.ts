import { posix } from 'node:path';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import type { RandomFile } from '../../platform/files/random-file.js';
import { guess } from '../../platform/text/closest-name.js';
import { Archive, readRelations, type Relation, relationsOf } from './zip/archive.js';
import { formatCode, meaningOf, type NumberMeaning } from './number-format.js';
import { attribute, type XmlToken } from './scan-xml.js';
import { partKey, readZipDirectory } from './zip/zip-reader.js';

/** How the numbers of a style are to be read. */
interface CellStyle {
  readonly code: string | undefined;
  /** The number of a format that every workbook has, whose look may depend on where it is read. */
  readonly builtIn: number | undefined;
  readonly meaning: NumberMeaning;
}

export interface Sheet {
  readonly name: string;
  /** The parts of its XML. */
  readonly tokens: () => AsyncGenerator<XmlToken[]>;
}

/** Sheets that have one header. */
export interface SheetTable {
  readonly sheets: readonly string[];
  readonly header: readonly string[];
  /** Positions of its columns in the header of the reading. */
  readonly columns: readonly number[];
  /** Whether its header is below other rows. */
  readonly isBelow: boolean;
}

/** What is needed of a workbook to read sheets of it. */
export interface Workbook {
  /** The names of all its worksheets. */
  readonly names: readonly string[];
  /** Those that are wanted. */
  readonly sheets: readonly Sheet[];
  readonly sharedStrings: readonly string[];
  readonly styles: readonly CellStyle[];
  readonly is1904: boolean;
  /** What it is made of, for the writer that copies its other sheets. */
  readonly archive: Archive;
  readonly main: string;
  readonly listed: readonly ListedSheet[];
}

/** Texts that sheets share are held: more of them than that would not fit. */
const mostSharedBytes = 512 * 1024 * 1024;

/**
 * Finds sheets in a workbook, and reads what their cells refer to.
 *
 * @param wanted a name or a number, several separated by commas, or `all`; without it the first worksheet
 * @throws InputError `input_malformed`; ConfigurationError when there is no such sheet, or it has no cells
 */
export async function openWorkbook(
  file: RandomFile,
  wanted: string | number | undefined,
): Promise<Workbook> {
  const archive = new Archive(file, await readZipDirectory(file));
  const main = await findMainPart(archive);
  const folder = posix.dirname(main);
  const relations = await readRelations(archive, relationsOf(main), folder);
  const { sheets, is1904 } = await readMainPart(archive, main, relations);
  const found = findSheets(sheets, wanted, file).map(({ name, part }) => {
    if (part === undefined) throw archive.broken('the sheet is not where it should be');
    return { name, tokens: () => archive.scan(part.target) };
  });
  const partOf = (kind: string): string | undefined =>
    relations.find(({ type }) => type.endsWith(`/${kind}`))?.target;
  return {
    names: sheets.filter(isWorksheet).map(({ name }) => name),
    sheets: found,
    sharedStrings: await readSharedStrings(archive, partOf('sharedStrings')),
    styles: await readStyles(archive, partOf('styles')),
    is1904,
    archive,
    main,
    listed: sheets,
  };
}

async function findMainPart(archive: Archive): Promise<string> {
  const relations = await readRelations(archive, '_rels/.rels', '');
  const main = relations.find(({ type }) => type.endsWith('/officeDocument'));
  const target = main?.target ?? 'xl/workbook.xml';
  const other = otherDocument(archive, target);
  if (other !== undefined) throw archive.broken(other);
  if (archive.has(target)) return target;
  throw archive.broken(
    'it is a zip archive without a workbook; unpack it, and give the file that is in it',
  );
}

/** What an archive is that is no workbook, and what to do with it. */
function otherDocument(archive: Archive, main: string): string | undefined {
  const [folder] = partKey(main).split('/');
  if (folder === 'word')
    return 'it is a Word document (.docx); save its table as a workbook or CSV';
  if (folder === 'ppt') return 'it is a PowerPoint presentation (.pptx)';
  if (main.endsWith('.bin')) return 'it is a binary workbook (.xlsb); save it as .xlsx';
  if (archive.has('mimetype') && archive.has('content.xml')) {
    return 'it is an OpenDocument file (.ods); save it as .xlsx';
  }
  return undefined;
}

async function readMainPart(
  archive: Archive,
  part: string,
  relations: readonly Relation[],
): Promise<{ readonly sheets: readonly ListedSheet[]; readonly is1904: boolean }> {
  const sheets: ListedSheet[] = [];
  let is1904 = false;
  let depth = 0;
  for await (const tokens of archive.scan(part)) {
    for (const token of tokens) {
      if (token.kind === 'close') depth -= 1;
      if (token.kind !== 'open') continue;
      if (!token.isEmpty) depth += 1;
      if (token.name === 'sheet') {
        const relation = attribute(token.attributes, 'id') ?? '';
        sheets.push({
          name: attribute(token.attributes, 'name') ?? '',
          part: relations.find(({ id }) => id === relation),
        });
        // Extensions have elements of the same name, deeper in the document.
      } else if (token.name === 'workbookPr' && depth === (token.isEmpty ? 1 : 2)) {
        is1904 = /^(?:1|true)$/.test(attribute(token.attributes, 'date1904') ?? '');
      }
    }
  }
  return { sheets, is1904 };
}

/** A sheet as the workbook lists it, and the part that it is in. */
export interface ListedSheet {
  readonly name: string;
  readonly part: Relation | undefined;
}

/** Chart sheets, dialog sheets and macro sheets are listed among the others, and hold no list. */
function isWorksheet({ part }: ListedSheet): boolean {
  return part === undefined || part.type.endsWith('/worksheet');
}

/** A name counts before what else the text may mean: it may have commas, or be a number. */
function findSheets(
  sheets: readonly ListedSheet[],
  wanted: string | number | undefined,
  file: RandomFile,
): readonly ListedSheet[] {
  const isName = sheets.some(({ name }) => name === String(wanted));
  const worksheets = sheets.filter(isWorksheet);
  if (worksheets.length === 0) {
    throw new InputError(`${file.name} cannot be read as XLSX: it has no worksheets`);
  }
  if (wanted === undefined) return worksheets.slice(0, 1);
  if (wanted === 'all' && !isName) return worksheets;
  const parts = isName ? [wanted] : String(wanted).split(',');
  const found = parts.map((part) => findSheet(sheets, String(part).trim(), file));
  return [...new Set(found)];
}

function findSheet(
  sheets: readonly ListedSheet[],
  wanted: string,
  { name }: RandomFile,
): ListedSheet {
  const number = /^[1-9]\d*$/.test(wanted) ? Number(wanted) : 0;
  const found = sheets.find((sheet) => sheet.name === wanted) ?? sheets[number - 1];
  if (found !== undefined && isWorksheet(found)) return found;
  const names = sheets.filter(isWorksheet).map((sheet) => sheet.name);
  const hint = found === undefined ? guess(wanted, names) : '';
  const problem =
    found === undefined
      ? `has no sheet ${JSON.stringify(wanted)}`
      : `has no cells in the sheet ${JSON.stringify(found.name)}, which is a chart, dialog or macro sheet`;
  const its = hint === '' ? '; its' : `${hint} Its`;
  throw new ConfigurationError(`${name} ${problem}${its} worksheets are: ${names.join(', ')}`);
}

async function readSharedStrings(archive: Archive, part: string | undefined): Promise<string[]> {
  const strings: string[] = [];
  if (part === undefined || !archive.has(part)) return strings;
  if (archive.bytes(part) > mostSharedBytes) {
    throw archive.broken('the texts that its sheets share are too many to be held');
  }
  let text = '';
  let isText = false;
  let isPhonetic = false;
  for await (const tokens of archive.scan(part)) {
    for (const token of tokens) {
      if (token.kind === 'cell') continue;
      if (token.kind === 'text') {
        if (isText && !isPhonetic) text += token.text;
        continue;
      }
      const isOpen = token.kind === 'open' && !token.isEmpty;
      if (token.name === 't') isText = isOpen;
      // How a text is spoken is beside it, and is no part of it.
      else if (token.name === 'rPh') isPhonetic = isOpen;
      else if (token.name === 'si') {
        if (!isOpen) strings.push(decodeEscapes(text));
        text = '';
      }
    }
  }
  return strings;
}

async function readStyles(archive: Archive, part: string | undefined): Promise<CellStyle[]> {
  const styles: CellStyle[] = [];
  if (part === undefined || !archive.has(part)) return styles;
  const own = new Map<number, string>();
  let isCellFormats = false;
  let isNumberFormats = false;
  for await (const tokens of archive.scan(part)) {
    for (const token of tokens) {
      if (token.kind === 'text' || token.kind === 'cell') continue;
      if (token.name === 'cellXfs') isCellFormats = token.kind === 'open' && !token.isEmpty;
      if (token.name === 'numFmts') isNumberFormats = token.kind === 'open' && !token.isEmpty;
      if (token.kind === 'close') continue;
      // Conditional formats name theirs as well, by numbers of their own.
      if (token.name === 'numFmt' && isNumberFormats) {
        const id = Number(attribute(token.attributes, 'numFmtId'));
        own.set(id, attribute(token.attributes, 'formatCode') ?? '');
      } else if (token.name === 'xf' && isCellFormats) {
        const id = Number(attribute(token.attributes, 'numFmtId') ?? 0);
        const code = formatCode(id, own);
        const builtIn = code === undefined || own.has(id) ? undefined : id;
        styles.push({ code, builtIn, meaning: meaningOf(code) });
      }
    }
  }
  return styles;
}

/** Characters that XML has no form for are in a form of the format's own. */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([\dA-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
