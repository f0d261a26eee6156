import { attribute } from './scan-xml.js';
import type { Workbook } from './workbook.js';

/** What other sheets can refer to no more. */
export interface Gone {
  readonly tables: readonly string[];
  readonly sheets: readonly string[];
}

/** What formulas call the tables in those parts. */
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

/** A program that finds a formula of what is not there takes the workbook for a broken one. */
export function refersTo({ tables, sheets }: Gone, formula: string): boolean {
  const text = formula.toLowerCase();
  const marks = [
    ...tables.map((name) => `${name}[`),
    ...sheets.flatMap((name) => [`${name}!`, `${name.replaceAll("'", "''")}'!`, `${name}:`]),
  ];
  return marks.some((mark) => text.includes(mark.toLowerCase()));
}

const formulas: ReadonlySet<string> = new Set(['f', 'formula', 'formula1', 'formula2']);

/** Whether one of those parts has a formula, or a pivot table, of what is gone. */
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

/** Whether a pivot table has its rows from there. */
function isOf({ tables, sheets }: Gone, attributes: string): boolean {
  return (
    tables.includes(attribute(attributes, 'name') ?? '') ||
    sheets.includes(attribute(attributes, 'sheet') ?? '')
  );
}
