import { parseCivil, parseInterval } from './civil-time.js';
import { decimalOf, joinKinds, kindOfValue, type Kind } from './kinds.js';
import type { RowChunk } from '../chunks/row-chunk.js';
import type { OpenSinkOptions } from '../sink.js';
import type { SourceReading } from '../source.js';

/** What is known of the values of a column. */
export interface ColumnFacts {
  /** What the source says they are, or what they turned out to be; `undefined` without any value. */
  readonly kind: Kind | undefined;
  /**
   * Whether the source's kind has values of which others know nothing, and they were seen: no number,
   * an infinite one, a day that no calendar has, a year beyond 9999.
   */
  readonly isSpecial: boolean;
  /** Whether its cells have nothing in common, so that it is text. */
  readonly isMixed: boolean;
  /** Whether moments were seen outside of 1970 to 2037, where 31 bits count the seconds. */
  readonly isBeyond31Bits: boolean;
  /** Of a decimal without bounds: the kind that all values which were seen fit in. */
  readonly digits?: Kind | undefined;
}

/** What is known of a column whose cells were not looked at. */
export function factsOfKind(kind: Kind | undefined): ColumnFacts {
  return { kind, isSpecial: false, isMixed: false, isBeyond31Bits: false };
}

interface Column {
  kind: Kind | undefined;
  /** Whether the source said it: then values do not change it. */
  readonly isDeclared: boolean;
  digits?: Kind;
  isSpecial: boolean;
  isBeyond31Bits: boolean;
  /** Whether integers were seen that a double does not hold. */
  hasLarge: boolean;
  isMixed: boolean;
}

/** From the first second after 1970 to the last one that 31 bits count, in nanoseconds. */
const [first31, last31] = [1_000_000_000n, (2n ** 31n - 1n) * 1_000_000_000n];

/**
 * Knows what columns hold: what their source says, and where it says nothing, or not all, what their
 * cells show. A column whose cells have nothing in common holds text.
 */
export class KindTally {
  readonly #columns: Column[];

  /** @param declared what the source says of its columns */
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

  /** By position. */
  get facts(): readonly ColumnFacts[] {
    return this.#columns.map(({ kind, digits, isSpecial, isMixed, isBeyond31Bits }) => ({
      kind,
      digits,
      isSpecial,
      isMixed,
      isBeyond31Bits,
    }));
  }

  /** Takes in the cells of some rows. */
  add(chunk: RowChunk, from = 0, to = chunk.length): void {
    // Where all cells are text there is nothing to find.
    if (!chunk.value) return;
    const open = [...this.#columns.entries()].filter(([, column]) => isOpen(column));
    if (open.length === 0) return;
    // Row by row, as a chunk takes them apart.
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

/** Whether more cells of a column may still change its kind. */
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

/** Notes what a value shows of its column beside the kind. */
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

/** What a decimal without bounds gets where one has to have some: its columns are the same every day. */
const usualDigits = { precision: 38, scale: 10 } as const;

/** Digits of a column of decimals: those that are said, else the usual ones, or more where they need it. */
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
  readonly reading: Pick<SourceReading, 'header' | 'kinds'>;
  /** How messages call the output's format or database. */
  readonly output: string;
  readonly onTextColumn?: OpenSinkOptions['onTextColumn'];
}

/**
 * Gives a function that reports, once for each, the columns that an output cannot keep as they are. Columns of text are
 * kept everywhere; one whose cells have nothing in common is reported too.
 *
 * @param keeps whether the output has a form for what is known of a column
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
 * The same for an output whose cells each have a kind of their own: those that become text are reported when
 * the first of a column comes, and what no cell of a kind can be at once.
 *
 * @param keeps whether the output has a form for a value of a kind; without a value, for any of them
 * @returns looks at the cells of a row
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
