import { parseCivil, parseInterval } from './civil-time.js';
import { decimalOf, joinKinds, kindOfValue, type Kind } from './kinds.js';
import type { RowChunk } from '../chunks/row-chunk.js';
import type { OpenSinkOptions } from '../sink.js';
import type { SourceReading } from '../source.js';

export interface ColumnFacts {
  /** Declared by the source, or found in the values; `undefined` without any value. */
  readonly kind: Kind | undefined;
  /** Whether some values have no form elsewhere: NaN, an infinity, a day of no calendar, a year beyond 9999. */
  readonly isSpecial: boolean;
  /** Whether its cells have nothing in common, so that it is text. */
  readonly isMixed: boolean;
  /** Whether there were times outside 1970 to 2037, which 31 bits of seconds cannot hold. */
  readonly isBeyond31Bits: boolean;
  /** Of an unbounded decimal: the kind that fits all values. */
  readonly digits?: Kind | undefined;
}

/** The facts of a column whose cells were not examined. */
export function factsOfKind(kind: Kind | undefined): ColumnFacts {
  return { kind, isSpecial: false, isMixed: false, isBeyond31Bits: false };
}

interface Column {
  kind: Kind | undefined;
  /** Whether the source declared it: then values do not change it. */
  readonly isDeclared: boolean;
  digits?: Kind;
  isSpecial: boolean;
  isBeyond31Bits: boolean;
  /** Whether there were integers that a double cannot hold. */
  hasLarge: boolean;
  isMixed: boolean;
}

/** From the first second after 1970 to the last that 31 bits can count, in nanoseconds. */
const [first31, last31] = [1_000_000_000n, (2n ** 31n - 1n) * 1_000_000_000n];

/** Determines the kinds of columns: as declared, else by their cells; text where these have nothing in common. */
export class KindTally {
  readonly #columns: Column[];

  constructor(columns: number, declared: readonly (Kind | undefined)[] | undefined) {
    this.#columns = Array.from({ length: columns }, (_, at) => ({
      kind: declared?.[at],
      isDeclared: declared?.[at] !== undefined,
      isSpecial: false,
      isBeyond31Bits: false,
      hasLarge: false,
      isMixed: false,
    }));
  }

  get facts(): readonly ColumnFacts[] {
    return this.#columns.map(({ kind, digits, isSpecial, isMixed, isBeyond31Bits }) => ({
      kind,
      digits,
      isSpecial,
      isMixed,
      isBeyond31Bits,
    }));
  }

  add(chunk: RowChunk, from = 0, to = chunk.length): void {
    // Where all cells are text there is nothing to find.
    if (!chunk.value) return;
    const open = [...this.#columns.entries()].filter(([, column]) => isOpen(column));
    if (open.length === 0) return;
    // Row by row, as chunks are parsed.
    for (let row = from; row < to; row += 1) {
      for (const [at, column] of open) {
        const value = chunk.value(row, at);
        if (value === null || value === undefined) continue;
        if (!column.isDeclared)
          this.#widen(column, chunk.kind?.(row, at) ?? kindOfValue(value), value);
        look(column, value);
      }
    }
  }

  #widen(column: Column, found: Kind | undefined, value: unknown): void {
    if (found === undefined || (found.name === 'text' && column.kind?.name === 'text')) return;
    const before = column.kind;
    column.kind = before === undefined ? found : joinKinds(before, found);
    column.hasLarge ||= typeof value === 'bigint' && !Number.isSafeInteger(Number(value));
    if (column.kind.name === 'float64' && column.hasLarge) column.kind = { name: 'text' };
    column.isMixed ||=
      column.kind.name === 'text' && (found.name !== 'text' || (before ?? found).name !== 'text');
  }
}

/** Whether more cells may still change a column's facts. */
function isOpen({ kind, isDeclared, isSpecial, isMixed, isBeyond31Bits }: Column): boolean {
  if (!isDeclared) return !isMixed;
  switch (kind?.name) {
    case 'decimal':
      return kind.precision === undefined || !isSpecial;
    case 'timestamptz':
      return !isSpecial || !isBeyond31Bits;
    case 'float32':
    case 'float64':
    case 'interval':
    case 'date':
    case 'time':
    case 'timestamp':
      return !isSpecial;
    default:
      return false;
  }
}

/** Notes what a value shows beside its kind. */
function look(column: Column, value: unknown): void {
  const { kind } = column;
  switch (kind?.name) {
    case 'float32':
    case 'float64':
      column.isSpecial ||= !Number.isFinite(Number(value));
      return;
    case 'decimal': {
      const digits = decimalOf(String(value));
      if (digits === undefined) column.isSpecial = true;
      else if (kind.precision === undefined) {
        column.digits = column.digits === undefined ? digits : joinKinds(column.digits, digits);
      }
      return;
    }
    case 'timestamptz': {
      const moment = parseCivil(kind, value);
      if (moment === undefined) column.isSpecial = true;
      else column.isBeyond31Bits ||= moment < first31 || moment > last31;
      return;
    }
    case 'interval':
      column.isSpecial ||= parseInterval(String(value)) === undefined;
      return;
    case 'date':
    case 'time':
    case 'timestamp':
      column.isSpecial ||= parseCivil(kind, value) === undefined;
      return;
    default:
  }
}

/** Bounds for an unbounded decimal where they are required: constant, so that columns are the same every day. */
const usualDigits = { precision: 38, scale: 10 } as const;

/** Bounds of a decimal column: the declared ones, else the usual ones, or more where needed. */
export function decimalDigits({ kind, digits }: ColumnFacts): {
  readonly precision: number;
  readonly scale: number;
} {
  const { precision, scale } = kind ?? {};
  if (precision !== undefined) return { precision, scale: scale ?? 0 };
  const usual = scale === 0 ? { precision: usualDigits.precision, scale } : usualDigits;
  if (digits?.precision === undefined) return usual;
  const { precision: all, scale: behind = 0 } = digits;
  const fits = behind <= usual.scale && all - behind <= usual.precision - usual.scale;
  return fits ? usual : { precision: all, scale: behind };
}

interface TextColumnReporting {
  readonly reading: SourceReading;
  readonly output: string;
  readonly onTextColumn?: OpenSinkOptions['onTextColumn'];
}

/**
 * Returns a function that reports, once each, the columns whose type an output cannot keep. Text is kept
 * everywhere; a column whose cells have nothing in common is reported, too.
 *
 * @param keeps whether the output can represent a column with these facts
 */
export function reportTextColumns(
  reporting: TextColumnReporting,
  keeps: (facts: ColumnFacts) => boolean,
): (tally: KindTally) => void {
  const report = createReporter(reporting);
  return (tally) => {
    for (const [at, facts] of tally.facts.entries()) {
      if (facts.isMixed) report(at, undefined);
      else if (!keeps(facts)) report(at, facts.kind);
    }
  };
}

/**
 * The same for an output whose cells each have a kind: a column is reported at its first cell that becomes
 * text, or at once if none of its kind can be kept.
 *
 * @param keeps whether the output can represent a value of a kind; without a value, any of them
 * @returns a check of a row's cells
 */
export function reportTextCells(
  reporting: TextColumnReporting,
  keeps: (kind: Kind, value?: unknown) => boolean,
): (cells: readonly unknown[], chunk: RowChunk, row: number) => void {
  const report = createReporter(reporting);
  const { kinds } = reporting.reading;
  for (const [at, kind] of (kinds ?? []).entries()) {
    if (kind && !keeps(kind)) report(at, kind);
  }
  return (cells, chunk, row) => {
    if (!chunk.value) return;
    for (const [at, value] of cells.entries()) {
      if (value === null || value === undefined) continue;
      const kind = kinds?.[at] ?? chunk.kind?.(row, at) ?? kindOfValue(value);
      if (kind && kind.name !== 'text' && !keeps(kind, value)) report(at, kind);
    }
  };
}

function createReporter({
  reading: { header },
  output,
  onTextColumn,
}: TextColumnReporting): (at: number, kind: Kind | undefined) => void {
  const reported = new Set<number>();
  return (at, kind) => {
    if (!onTextColumn || reported.has(at)) return;
    reported.add(at);
    onTextColumn({ column: header[at] ?? '', kind, output });
  };
}
