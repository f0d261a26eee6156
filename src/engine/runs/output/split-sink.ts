import { randomBytes } from 'node:crypto';
import { emailRecordFields } from '../../../contract/records.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { AddressTable } from '../../../platform/hashing/address-table.js';
import { checkOptions, type OptionShape } from '../../../platform/check-options.js';
import { listOf, oneOf, record, recordOf, required, text } from '../../../platform/option-kinds.js';
import { verdictOf, verdicts, type Verdict } from '../../results/outcome-table.js';
import { caseless } from '../../../lists/rows/sources/combine-headers.js';
import { aSink } from '../../../lists/rows/guarded-ends.js';
import type { RowChunk } from '../../../lists/rows/chunks/row-chunk.js';
import {
  type AddedCells,
  type OpenSinkOptions,
  type OutputCell,
  type Sink,
  OutcomeForms,
} from '../../../lists/rows/sink.js';
import { routeSink } from '../../../lists/files/partitions/partition-sink.js';
import { optionName } from '../../../platform/text/sentence.js';

/** The rows of an output; none with a suppressed address. */
export interface KeepRule {
  /** Rows whose verified columns all have one of these verdicts. @default any */
  readonly verdicts?: readonly Verdict[] | undefined;
  /**
   * By verified column, by name or position (`#3`): its accepted verdicts. Other columns need one of
   * `verdicts`. @default `verdicts` for all
   */
  readonly columns?: Readonly<Record<string, readonly Verdict[]>> | undefined;
  /** Rows whose emails all have one of these qualities. @default any */
  readonly quality?: readonly string[] | undefined;
}

export interface SplitSinkOptions {
  /** Gets the kept rows. */
  readonly output: Sink;
  /** Gets the others. @default dropped */
  readonly rejects?: Sink | undefined;
  /** @default all rows are kept */
  readonly keep?: KeepRule | undefined;
  /**
   * Keeps only the first of the kept rows with the same address in this verified column, by name or position
   * (`#3`); `true` is the only verified one. Rows without an address are kept. Takes about 25 bytes for each
   * address.
   * @default all are kept
   */
  readonly unique?: string | true | undefined;
}

const someVerdicts = listOf(oneOf(verdicts));

const keepShape: OptionShape<KeepRule> = {
  verdicts: someVerdicts,
  columns: recordOf('an object of verdicts by column, such as { email: ["valid"] }', someVerdicts),
  quality: listOf(text),
};

const shape: OptionShape<SplitSinkOptions> = {
  output: required(aSink),
  rejects: aSink,
  keep: { ...record, members: keepShape },
  unique: {
    what: 'the name of a verified column, or true',
    isRight: (value) => value === true || text.isRight(value),
  },
};

const cellsBefore = 2;
const reasonCell = 1;
const qualityCell = cellsBefore + emailRecordFields.indexOf('quality');

/**
 * Splits rows between two outputs: every row is in exactly one. The rejects are complete before the output
 * appears.
 *
 * @example
 * ```ts
 * const sink = splitSink({
 *   output: fileSink('valid.csv'),
 *   rejects: fileSink('rejects.csv'),
 *   keep: { verdicts: ['valid'] }, // or { columns: { email: ['valid'] } }
 * });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function splitSink(options: SplitSinkOptions): Sink {
  checkOptions(options, shape);
  const { output, rejects, keep, unique } = options;
  const sinks = rejects ? [rejects, output] : [output];
  const [others, kept] = rejects ? [0, 1] : [-1, 0];
  let [leftOut, repeated] = [0, 0];
  let validLeftOut: readonly number[] = [];
  const leftOutBy = [
    ...(keep?.verdicts || keep?.columns ? ['keep'] : []),
    ...(keep?.quality ? ['keepQuality'] : []),
    ...(unique === undefined ? [] : ['unique']),
  ];
  const sink = routeSink({
    name: output.name,
    decides: { ...rejects?.decides, ...output.decides },
    sinks,
    readsAddresses: unique !== undefined,
    createRoute(opening) {
      [leftOut, repeated] = [0, 0];
      const isFirst = unique === undefined ? undefined : createUniqueTest(unique, opening);
      const fate = keep && createRowTest(keep, opening);
      validLeftOut = fate?.validLeftOut ?? [];
      return (outcomes, first, chunk, row) => {
        if (fate && !fate.isKept(outcomes, first)) return others;
        if (!isFirst || isFirst(chunk, row)) return kept;
        repeated += 1;
        return others;
      };
    },
    onRows(place, rows) {
      if (place !== kept) leftOut += rows;
    },
  });
  return {
    ...sink,
    async validate(reading, columns) {
      // Before anything is paid.
      if (keep) verdictsByColumn(keep, reading.header, columns.verified);
      if (unique !== undefined) uniqueColumn(unique, reading.header, columns.verified);
      return sink.validate?.(reading, { ...columns, leftOutBy });
    },
    rowsLeftOut: () => leftOut,
    rowsRepeated: () => repeated,
    leftOutBy: () => leftOutBy,
    validLeftOut: () => validLeftOut,
    skippedUpdates: () => output.skippedUpdates?.(),
  };
}

interface RowTest {
  readonly isKept: (outcomes: Uint32Array, first: number) => boolean;
  /** By verified column: valid rows that were left out. */
  readonly validLeftOut: readonly number[];
}

function createRowTest(keep: KeepRule, opening: OpenSinkOptions): RowTest {
  const byColumn = verdictsByColumn(keep, opening.reading.header, opening.verified);
  const fateOf = createKeepTest(keep.quality, byColumn, opening.whole ?? opening);
  const width = opening.added.length;
  const counts = byColumn.map(() => 0);
  return {
    validLeftOut: counts,
    isKept(outcomes, first) {
      let isKept = true;
      // A row refused by quality or by a named column was meant to be.
      let isMeant = false;
      for (let column = 0; column < width; column += 1) {
        const fate = fateOf(outcomes[first + column] ?? 0, column);
        if (fate === 'valid' || fate === 'kept') continue;
        isKept = false;
        isMeant ||= fate === 'poor' || byColumn[column] !== keep.verdicts;
      }
      for (let column = 0; column < width && !isKept && !isMeant; column += 1) {
        if (fateOf(outcomes[first + column] ?? 0, column) !== 'valid') continue;
        counts[column] = (counts[column] ?? 0) + 1;
      }
      return isKept;
    },
  };
}

/** The same address is one in every country. */
function createUniqueTest(
  unique: string | true,
  opened: OpenSinkOptions,
): (chunk: RowChunk, row: number) => boolean {
  const column = uniqueColumn(unique, opened.reading.header, opened.verified);
  if (!opened.addressOf) throw new TypeError('a sink with unique rows needs the addresses of rows');
  const seen = new AddressTable({ seed: randomBytes(32) });
  return (chunk, row) => {
    const address = opened.addressOf?.(chunk, row, column);
    return address === undefined || seen.size === seen.add(0, address);
  };
}

/** @returns its position among the verified columns */
function uniqueColumn(
  unique: string | true,
  header: readonly string[],
  verified: readonly number[],
): number {
  const column =
    unique === true
      ? verified.length - 1
      : verified.findIndex((position) => isCalled(unique, position, header));
  if (column === 0 || (column > 0 && unique !== true)) return column;
  const names = verified.map((position) => JSON.stringify(header[position] ?? '')).join(', ');
  throw new ConfigurationError(
    `${optionName('unique')} ${unique === true ? 'needs to know the column whose addresses are to be there once' : `names the column ${JSON.stringify(unique)}, which is not verified`}; verified columns: ${names}`,
    { option: 'unique' },
  );
}

function isCalled(name: string, position: number, header: readonly string[]): boolean {
  return name === `#${position + 1}` || caseless(name) === caseless(header[position] ?? '');
}

function verdictsByColumn(
  { verdicts, columns = {} }: KeepRule,
  header: readonly string[],
  verified: readonly number[],
): readonly (readonly Verdict[] | undefined)[] {
  const named = Object.keys(columns);
  const other = named.find(
    (name) => !verified.some((position) => isCalled(name, position, header)),
  );
  if (other !== undefined) {
    const names = verified.map((position) => JSON.stringify(header[position] ?? '')).join(', ');
    throw new ConfigurationError(
      `${optionName('keep')} names the column ${JSON.stringify(other)}, which is not verified; verified columns: ${names}`,
      { option: 'keep', column: other },
    );
  }
  return verified.map((position) => {
    const name = named.find((each) => isCalled(each, position, header));
    return name === undefined ? verdicts : columns[name];
  });
}

/** A cell for its row: kept, as valid or otherwise; refused by verdict; or poor, by quality or as suppressed. */
type CellFate = 'valid' | 'kept' | 'refused' | 'poor';
type KeepTest = (outcome: number, column: number) => CellFate;

function createKeepTest(
  quality: KeepRule['quality'],
  byColumn: readonly (readonly Verdict[] | undefined)[],
  found: AddedCells,
): KeepTest {
  const isEmail = found.added.map((columns) => columns[qualityCell]?.field === 'quality');
  if (quality && !isEmail.includes(true)) {
    throw new ConfigurationError('rows are to be kept by quality, which only emails have', {
      option: 'keepQuality',
    });
  }
  const test = (cells: readonly OutputCell[], column: number): CellFate => {
    if (cells[reasonCell] === 'suppressed') return 'poor';
    const verdict = verdictOfCells(cells);
    if (byColumn[column]?.includes(verdict) === false) return 'refused';
    const isJudged = quality !== undefined && isEmail[column] === true;
    if (isJudged && !quality.includes(String(cells[qualityCell]))) return 'poor';
    return verdict === 'valid' ? 'valid' : 'kept';
  };
  const known = new OutcomeForms(found, test);
  return (outcome, column) => known.of(column, outcome);
}

export function verdictOfCells(cells: readonly OutputCell[]): Verdict {
  const flags = cells.slice(cellsBefore, cellsBefore + 3);
  return verdictOf({ values: flags.map((cell) => cell === true) });
}

/** Whether a cell of the list had nothing to verify, by the values of all its columns. */
export function isEmptyCell(cells: readonly OutputCell[]): boolean {
  return cells[reasonCell] === 'empty';
}
