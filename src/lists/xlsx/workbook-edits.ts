import { attribute, decodeEntities, editXml, withAttribute } from './scan-xml.js';
import type { SheetTable, Workbook } from './workbook.js';
import { type OutputStyle, styleElements } from './xlsx-parts.js';

/** What other sheets can no longer refer to. */
export interface Gone {
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

/** Whether a pivot table has its rows there. */
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
    const own = attribute(attributes, 'localSheetId');
    const sheet = listed[Number(own)]?.name ?? '';
    // Print areas and filters.
    const isOfOldRows =
      written.includes(sheet) && attribute(attributes, 'name')?.startsWith('_xlnm.') === true;
    const isGone =
      (own !== undefined && placeOf(own) === -1) || refersTo(gone, decodeEntities(inside));
    hasLostNames ||= isGone && !isOfOldRows;
    if (isOfOldRows || isGone) return '';
    if (own === undefined) return whole;
    return `<${tag}${withAttribute(attributes, 'localSheetId', String(placeOf(own)))}>${inside}</${tag}>`;
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
        numFmts({ inside: own, whole }) {
          hasFormats = true;
          editXml(own, {
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
  const { formats, looks } = styleElements(styles, { firstId: last + 1, prefix });
  const added = editXml(xml, {
    numFmts: ({ tag, inside }) => `<${tag}>${inside}${formats.join('')}</${tag}>`,
    cellXfs: ({ tag, inside }) => `<${tag}>${inside}${looks.join('')}</${tag}>`,
  });
  if (hasFormats || formats.length === 0) return added;
  const start = added.indexOf('>', added.indexOf(`<${root}`)) + 1;
  return `${added.slice(0, start)}<${prefix}numFmts>${formats.join('')}</${prefix}numFmts>${added.slice(start)}`;
}
