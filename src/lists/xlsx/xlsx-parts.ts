import { attribute, decodeEntities, editXml, withAttribute } from './scan-xml.js';
import type { SheetTable, Workbook } from './workbook.js';

/** The parts of a workbook, without its sheets and styles. */
export function workbookParts(
  sheetNames: readonly string[],
): readonly (readonly [name: string, xml: string])[] {
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
  const packages = 'http://schemas.openxmlformats.org/package/2006';
  const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const types = sheetNames.map(
    (_, at) =>
      `<Override PartName="/xl/worksheets/sheet${at + 1}.xml" ContentType="${spreadsheet}.worksheet+xml"/>`,
  );
  const sheets = sheetNames.map(
    (name, at) => `<sheet name="${escapeXml(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  );
  const relations = sheetNames.map(
    (_, at) =>
      `<Relationship Id="rId${at + 1}" Type="${office}/relationships/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
  );
  return [
    [
      '[Content_Types].xml',
      `${head}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/>${types.join('')}<Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/></Types>`,
    ],
    [
      '_rels/.rels',
      `${head}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${head}<workbook xmlns="${mainNamespace}" xmlns:r="${office}/relationships"><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${head}<Relationships xmlns="${packages}/relationships">${relations.join('')}<Relationship Id="rId${sheetNames.length + 1}" Type="${office}/relationships/styles" Target="styles.xml"/></Relationships>`,
    ],
  ];
}

const mainNamespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

interface SheetForm {
  /** Of its columns, in characters. */
  readonly widths: readonly number[];
  readonly hasNames: boolean;
}

/** Precedes the rows: names stay visible when a sheet is scrolled. */
export function sheetHead({ widths, hasNames }: SheetForm): string {
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const columns = widths.map(
    (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
  );
  const view = hasNames
    ? `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`
    : '';
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="${mainNamespace}">${view}<cols>${columns.join('')}</cols><sheetData>`;
}

/** @param filtered the range with filters, such as `A1:F20`. @default none */
export function sheetTail(filtered: string | undefined): string {
  const filter = filtered === undefined ? '' : `<autoFilter ref="${filtered}"/>`;
  return `</sheetData>${filter}</worksheet>`;
}

/** A style of cells: the code of a number format, or text that must never be taken for a formula. */
export interface OutputStyle {
  readonly code: string | undefined;
  readonly builtIn?: number | undefined;
  readonly isQuoted: boolean;
}

/** The styles of a workbook, in the order of their numbers, after the plain one of number 0. */
export function stylesPart(styles: readonly OutputStyle[]): string {
  const { formats, cellFormats } = styleElements([{ code: undefined, isQuoted: false }, ...styles]);
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<styleSheet xmlns="${mainNamespace}">${formats.length === 0 ? '' : `<numFmts count="${String(formats.length)}">${formats.join('')}</numFmts>`}<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${String(cellFormats.length)}">${cellFormats.join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}

/**
 * @param firstId the first number that no format has. @default after those of formats that need not be named
 * @param prefix in front of the elements' names
 */
function styleElements(
  styles: readonly OutputStyle[],
  { firstId = 164, prefix = '' }: { readonly firstId?: number; readonly prefix?: string } = {},
): { readonly formats: readonly string[]; readonly cellFormats: readonly string[] } {
  const named = styles.filter(({ builtIn }) => builtIn === undefined).map(({ code }) => code);
  const codes = [...new Set(named)].filter((code) => code !== undefined);
  const idOf = ({ code, builtIn }: OutputStyle): number =>
    builtIn ?? (code === undefined ? 0 : firstId + codes.indexOf(code));
  return {
    formats: codes.map(
      (code, at) =>
        `<${prefix}numFmt numFmtId="${String(firstId + at)}" formatCode="${escapeXml(code)}"/>`,
    ),
    cellFormats: styles.map(
      (style) =>
        `<${prefix}xf numFmtId="${String(idOf(style))}" fontId="0" fillId="0" borderId="0" xfId="0"${style.code === undefined ? '' : ' applyNumberFormat="1"'}${style.isQuoted ? ' quotePrefix="1"' : ''}/>`,
    ),
  };
}

const entities = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);

/** Text in the XML of a workbook. What XML cannot hold, and what would be taken for its form, is `_x0000_`. */
export function escapeXml(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(unwritable, (character) =>
      [...Array(character.length).keys()]
        .map((at) => `_x${character.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}_`)
        .join(''),
    )
    .replaceAll(/[&<>"]/g, (character) => entities.get(character) ?? character);
}

/** All that may have to be written otherwise, and most texts have none of. */
// oxlint-disable-next-line no-control-regex
const special = /[&<>"\u0000-\u0008\u000b-\u001f\ud800-\udfff\ufffe\uffff]|_x/;

/** Control characters, lone surrogates, non-characters, and line ends that XML would change. */
const unwritable =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** What other sheets can no longer refer to. */
interface Gone {
  readonly tables: readonly string[];
  readonly sheets: readonly string[];
}

/** The names in formulas of the tables in those parts. */
export async function tableNames(
  { archive }: Workbook,
  parts: readonly string[],
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const part of parts) {
    for await (const tokens of archive.scan(part)) {
      for (const token of tokens) {
        if (token.kind !== 'open' || token.name !== 'table') continue;
        names.push(attribute(token.attributes, 'displayName') ?? '');
      }
    }
  }
  return names;
}

/** A formula that refers to something missing makes a workbook look broken. */
function refersTo({ tables, sheets }: Gone, formula: string): boolean {
  const text = formula.toLowerCase();
  const marks = [
    ...tables.map((name) => `${name}[`),
    ...sheets.flatMap((name) => [`${name}!`, `${name.replaceAll("'", "''")}'!`, `${name}:`]),
  ];
  return marks.some((mark) => text.includes(mark.toLowerCase()));
}

const formulas: ReadonlySet<string> = new Set(['f', 'formula', 'formula1', 'formula2']);

/** Whether one of those parts has a formula, or a pivot table, of something missing. */
export async function anyRefersTo(
  gone: Gone,
  { archive }: Workbook,
  parts: readonly string[],
): Promise<boolean> {
  if (gone.tables.length === 0 && gone.sheets.length === 0) return false;
  for (const part of parts) {
    if (!part.endsWith('.xml') || part.endsWith('/sharedstrings.xml')) continue;
    let isFormula = false;
    for await (const tokens of archive.scan(part)) {
      for (const token of tokens) {
        if (token.kind === 'text') {
          if (isFormula && refersTo(gone, token.text)) return true;
        } else if (token.kind !== 'cell') {
          isFormula = token.kind === 'open' && formulas.has(token.name);
          const isSource = token.kind === 'open' && token.name === 'worksheetSource';
          if (isSource && isOf(gone, token.attributes)) return true;
        }
      }
    }
  }
  return false;
}

function isOf({ tables, sheets }: Gone, attributes: string): boolean {
  return (
    tables.includes(attribute(attributes, 'name') ?? '') ||
    sheets.includes(attribute(attributes, 'sheet') ?? '')
  );
}

/** The workbook part without dangling references. */
export function editMain(
  xml: string,
  { listed }: Workbook,
  { tables, gone }: { readonly tables: readonly SheetTable[]; readonly gone: Gone },
): { readonly xml: string; readonly hasLostNames: boolean } {
  const written = tables.map(({ sheets: [first = ''] }) => first);
  const left = listed.filter(({ name }) => !gone.sheets.includes(name));
  const placeOf = (place: string | undefined): number =>
    left.findIndex((sheet) => sheet === listed[Number(place)]);
  let hasLostNames = false;
  const editName: Parameters<typeof editXml>[1][string] = ({ tag, attributes, inside, whole }) => {
    const sheetId = attribute(attributes, 'localSheetId');
    const sheet = listed[Number(sheetId)]?.name ?? '';
    // Print areas and filters.
    const isOfOldRows =
      written.includes(sheet) && attribute(attributes, 'name')?.startsWith('_xlnm.') === true;
    const isGone =
      (sheetId !== undefined && placeOf(sheetId) === -1) || refersTo(gone, decodeEntities(inside));
    hasLostNames ||= isGone && !isOfOldRows;
    if (isOfOldRows || isGone) return '';
    if (sheetId === undefined) return whole;
    return `<${tag}${withAttribute(attributes, 'localSheetId', String(placeOf(sheetId)))}>${inside}</${tag}>`;
  };
  const edited = editXml(xml, {
    sheet({ tag, attributes, whole }) {
      const name = attribute(attributes, 'name') ?? '';
      if (gone.sheets.includes(name)) return '';
      return written.includes(name)
        ? `<${tag}${withAttribute(attributes, 'state', undefined)}/>`
        : whole;
    },
    definedNames({ tag, attributes, inside }) {
      const names = editXml(inside, { definedName: editName });
      return names.includes('<') ? `<${tag}${attributes}>${names}</${tag}>` : '';
    },
    workbookView({ tag, attributes, inside }) {
      const active = placeOf(attribute(attributes, 'activeTab') ?? '0');
      const first = left.findIndex(({ name }) => name === written[0]);
      const shown = withAttribute(attributes, 'firstSheet', undefined);
      return `<${tag}${withAttribute(shown, 'activeTab', String(active === -1 ? first : active))}>${inside}</${tag}>`;
    },
    calcPr: ({ tag, attributes }) => `<${tag}${withAttribute(attributes, 'fullCalcOnLoad', '1')}/>`,
  });
  return { xml: edited, hasLostNames };
}

export function addStyles(xml: string, styles: readonly OutputStyle[]): string {
  if (styles.length === 0) return xml;
  let [hasFormats, root, prefix, last] = [false, '', '', 163];
  editXml(xml, {
    styleSheet({ tag, inside }) {
      root = tag;
      prefix = tag.slice(0, tag.indexOf(':') + 1);
      editXml(inside, {
        numFmts({ inside: known, whole }) {
          hasFormats = true;
          editXml(known, {
            numFmt({ attributes }) {
              last = Math.max(last, Number(attribute(attributes, 'numFmtId')) || 0);
              return '';
            },
          });
          return whole;
        },
      });
      return '';
    },
  });
  const { formats, cellFormats } = styleElements(styles, { firstId: last + 1, prefix });
  const added = editXml(xml, {
    numFmts: ({ tag, inside }) => `<${tag}>${inside}${formats.join('')}</${tag}>`,
    cellXfs: ({ tag, inside }) => `<${tag}>${inside}${cellFormats.join('')}</${tag}>`,
  });
  if (hasFormats || formats.length === 0) return added;
  const start = added.indexOf('>', added.indexOf(`<${root}`)) + 1;
  return `${added.slice(0, start)}<${prefix}numFmts>${formats.join('')}</${prefix}numFmts>${added.slice(start)}`;
}
