import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { maskedCell } from '../../platform/text/masked-cell.js';
import { CallingCodeTally } from './calling-code-tally.js';

/** How the cells of a verified column look. */
export interface ColumnLooks {
  /** Cells that hold something. */
  filled: number;
  /** Those of them that do not look like what they are verified as. */
  malformed: number;
  /** Those of these that look like what the other type is. */
  others: number;
  /** Phone numbers that may begin with a calling code that has lost its `+`, and are not surely read so. */
  ambiguous: number;
  /** Those of them that may be mobile numbers so. */
  ambiguousMobiles: number;
  /** The first of them, masked. */
  readonly examples: string[];
  /** The rows of the first of them. */
  readonly rows: number[];
  /** Of phone numbers, where all rows have one country. */
  readonly callingCodes: CallingCodeTally | undefined;
}

const mostExamples = 3;
const mostRows = 5;

/** @param only the country of all rows, where they have one */
export function createLooks(type: VerificationType, only: CountryCode | undefined): ColumnLooks {
  return {
    filled: 0,
    malformed: 0,
    others: 0,
    ambiguous: 0,
    ambiguousMobiles: 0,
    examples: [],
    rows: [],
    callingCodes: type === 'phone' && only ? new CallingCodeTally(only) : undefined,
  };
}

/** Counts a cell that holds something. */
export function addCell(looks: ColumnLooks, isAlike: boolean, isOther = false): void {
  looks.filled += 1;
  if (!isAlike) looks.malformed += 1;
  if (isOther) looks.others += 1;
}

/** Counts a phone number that may have lost its `+`. @param row its number */
export function addLostPlus(
  looks: ColumnLooks,
  kind: 'fixed' | 'mobile',
  { cell, row }: { readonly cell: CellText; readonly row: number },
): void {
  if (typeof cell !== 'string') return;
  looks.ambiguous += 1;
  if (looks.rows.length < mostRows) looks.rows.push(row);
  if (kind === 'mobile') looks.ambiguousMobiles += 1;
  if (looks.examples.length >= mostExamples) return;
  const example = maskedCell(cell, false);
  if (!looks.examples.includes(example)) looks.examples.push(example);
}
