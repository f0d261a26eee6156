import { posix } from 'node:path';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import type { RandomFile } from '../files/bytes/random-file.js';
import { guess } from '../../platform/text/closest-name.js';
import { caseless } from '../rows/sources/combine-headers.js';
import { Archive, readRelations, type Relation, relationsOf } from './zip/archive.js';
import { formatCode, meaningOf, type NumberMeaning } from './number-format.js';
import { attribute, type XmlToken } from './scan-xml.js';
import { partKey, readZipDirectory } from './zip/zip-reader.js';

interface CellStyle {
  readonly code: string | undefined;
  /** The number of a built-in format, whose display may depend on the reader. */
  readonly builtIn: number | undefined;
  readonly meaning: NumberMeaning;
}

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  readonly tokens: () => AsyncGenerator<XmlToken[]>;
}

export interface SheetTable {
  readonly sheets: readonly string[];
  readonly header: readonly string[];
  readonly columns: readonly number[];
  readonly isBelow: boolean;
}

export interface Workbook {
  readonly names: readonly string[];
  readonly sheets: readonly Sheet[];
  readonly sharedStrings: readonly string[];
  readonly styles: readonly CellStyle[];
  readonly is1904: boolean;
  /** Whether the programs that open it have to calculate it. */
  readonly isUncalculated: boolean;
  /** Its archive, for the writer that copies its other sheets. */
  readonly archive: Archive;
  readonly main: string;
  readonly listed: readonly ListedSheet[];
}

/** Shared texts are held in memory: more would not fit. */
const mostSharedBytes = 512 * 1024 * 1024;

/**
 * Opens sheets of a workbook, with the styles and shared texts of their cells.
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
  const { sheets, is1904, isUncalculated } = await readMainPart(archive, main, relations);
  const found = findSheets(sheets, wanted, file).map(({ name, isHidden, part }) => {
    if (part === undefined) throw archive.broken('the sheet is not where it should be');
    return { name, isHidden, tokens: () => archive.scan(part.target) };
  });
  const partOf = (kind: string): string | undefined =>
    relations.find(({ type }) => type.endsWith(`/${kind}`))?.target;
  return {
    names: sheets.filter(isWorksheet).map(({ name }) => name),
    sheets: found,
    sharedStrings: await readSharedStrings(archive, partOf('sharedStrings')),
    styles: await readStyles(archive, partOf('styles')),
    is1904,
    isUncalculated,
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
  if (other !== undefined) throw archive.broken(other, 'unsupported');
  if (archive.has(target)) return target;
  throw archive.broken(
    'it is a zip archive without a workbook; unpack it, and give the file that is in it',
    'other_format',
  );
}

/** What an archive is if not a workbook, and what to do with it. */
function otherDocument(archive: Archive, main: string): string | undefined {
  const [folder] = partKey(main).split('/');
  if (folder === 'word')
    return 'it is a Word document (.docx); save its table as a workbook or CSV';
  if (folder === 'ppt') return 'it is a PowerPoint presentation (.pptx)';
  if (main.endsWith('.bin')) return 'it is a binary workbook (.xlsb); save it as .xlsx';
  if (archive.has('mimetype') && archive.has('content.xml')) {
    return 'it is an OpenDocument file (.ods); save it as .xlsx';
  }
  if (archive.has('Index/Document.iwa')) {
    return 'it is a Numbers document (.numbers); export it as CSV or Excel';
  }
  return undefined;
}

async function readMainPart(
  archive: Archive,
  part: string,
  relations: readonly Relation[],
): Promise<
  { readonly sheets: readonly ListedSheet[] } & Pick<Workbook, 'is1904' | 'isUncalculated'>
> {
  const sheets: ListedSheet[] = [];
  let is1904 = false;
  let isUncalculated = false;
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
          isHidden: /^(?:hidden|veryHidden)$/.test(attribute(token.attributes, 'state') ?? ''),
          part: relations.find(({ id }) => id === relation),
        });
        // Extensions have elements of the same name, deeper in the document.
      } else if (token.name === 'workbookPr' && depth === (token.isEmpty ? 1 : 2)) {
        is1904 = isTrue(attribute(token.attributes, 'date1904'));
      } else if (token.name === 'calcPr') {
        isUncalculated = isTrue(attribute(token.attributes, 'fullCalcOnLoad'));
      }
    }
  }
  return { sheets, is1904, isUncalculated };
}

function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true';
}

interface ListedSheet {
  readonly name: string;
  /** Whether programs show it only when asked. */
  readonly isHidden: boolean;
  readonly part: Relation | undefined;
}

/** Chart, dialog and macro sheets are listed, too, and hold no list. */
function isWorksheet({ part }: ListedSheet): boolean {
  return part === undefined || part.type.endsWith('/worksheet');
}

/** A literal name comes first: it may contain commas, or be a number. */
function findSheets(
  sheets: readonly ListedSheet[],
  wanted: string | number | undefined,
  file: RandomFile,
): readonly ListedSheet[] {
  const named = sheetNamed(sheets, String(wanted));
  const worksheets = sheets.filter(isWorksheet);
  if (worksheets.length === 0) {
    throw new InputError(`${file.name} cannot be read as XLSX: it has no worksheets`, {
      fault: 'empty',
    });
  }
  if (wanted === undefined) return worksheets.slice(0, 1);
  if (wanted === 'all' && named?.name !== wanted) return worksheets;
  const parts = named ? [named.name] : String(wanted).split(',');
  const found = parts.map((part) => findSheet(sheets, part.trim(), file));
  return [...new Set(found)];
}

/** Whatever its case, where that leaves no other. */
function sheetNamed(sheets: readonly ListedSheet[], wanted: string): ListedSheet | undefined {
  const alike = sheets.filter(({ name }) => caseless(name) === caseless(wanted));
  return alike.find(({ name }) => name === wanted) ?? (alike.length === 1 ? alike[0] : undefined);
}

function findSheet(
  sheets: readonly ListedSheet[],
  wanted: string,
  { name }: RandomFile,
): ListedSheet {
  const number = /^[1-9]\d*$/.test(wanted) ? Number(wanted) : 0;
  const found = sheetNamed(sheets, wanted) ?? sheets[number - 1];
  if (found !== undefined && isWorksheet(found)) return found;
  const names = sheets.filter(isWorksheet).map((sheet) => sheet.name);
  const hint = found === undefined ? guess(wanted, names) : '';
  const problem =
    found === undefined
      ? `has no sheet ${JSON.stringify(wanted)}`
      : `has no cells in the sheet ${JSON.stringify(found.name)}, which is a chart, dialog or macro sheet`;
  const its = hint === '' ? '; its' : `${hint} Its`;
  throw new ConfigurationError(`${name} ${problem}${its} worksheets are: ${names.join(', ')}`, {
    option: 'sheet',
  });
}

async function readSharedStrings(archive: Archive, part: string | undefined): Promise<string[]> {
  const strings: string[] = [];
  if (part === undefined || !archive.has(part)) return strings;
  if (archive.bytes(part) > mostSharedBytes) {
    throw archive.broken('the texts that its sheets share are too many to be held', 'too_large');
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
  const custom = new Map<number, string>();
  let isCellFormats = false;
  let isNumberFormats = false;
  for await (const tokens of archive.scan(part)) {
    for (const token of tokens) {
      if (token.kind === 'text' || token.kind === 'cell') continue;
      if (token.name === 'cellXfs') isCellFormats = token.kind === 'open' && !token.isEmpty;
      if (token.name === 'numFmts') isNumberFormats = token.kind === 'open' && !token.isEmpty;
      if (token.kind === 'close') continue;
      // Conditional formats have number formats with their own numbers.
      if (token.name === 'numFmt' && isNumberFormats) {
        const id = Number(attribute(token.attributes, 'numFmtId'));
        custom.set(id, attribute(token.attributes, 'formatCode') ?? '');
      } else if (token.name === 'xf' && isCellFormats) {
        const id = Number(attribute(token.attributes, 'numFmtId') ?? 0);
        const code = formatCode(id, custom);
        const builtIn = code === undefined || custom.has(id) ? undefined : id;
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
