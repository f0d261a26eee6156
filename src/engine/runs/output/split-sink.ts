import { emailRecordFields } from '../../../contract/records.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import {
  checkOptions,
  listOf,
  oneOf,
  record,
  recordOf,
  required,
  text,
  type OptionShape,
} from '../../../platform/options/check-options.js';
import { verdictOf, verdicts, type Verdict } from '../../results/outcome-table.js';
import { caseless } from '../../../lists/rows/column-names.js';
import { aSink } from '../../../lists/rows/own-ends.js';
import type { AddedCells, OutputCell, Sink } from '../../../lists/rows/sink.js';
import { OutcomeForms } from '../../../lists/files/rows-writer.js';
import { routeSink } from '../../../lists/files/partitions/partition-sink.js';
import { optionName } from '../../../platform/text/option-name.js';

/** Which rows an output is to have: none with a suppressed address in any case. */
export interface KeepRule {
  /** Rows whose verified columns all have one of these verdicts. @default any */
  readonly verdicts?: readonly Verdict[] | undefined;
  /**
   * By verified column, named as in the header or by position (`#3`): the verdicts of rows that are kept.
   * The columns that are not named here need one of `verdicts`. @default `verdicts` for all
   */
  readonly columns?: Readonly<Record<string, readonly Verdict[]>> | undefined;
  /** Rows whose emails all have one of these qualities. @default any */
  readonly quality?: readonly string[] | undefined;
}

export interface SplitSinkOptions {
  /** Gets the rows that are kept. */
  readonly output: Sink;
  /** Gets all others. @default they are dropped */
  readonly rejects?: Sink | undefined;
  readonly keep: KeepRule;
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
  keep: required({ ...record, members: keepShape }),
};

/** Cells in front of those of the record. */
const cellsBefore = 2;
const reasonCell = 1;
const qualityCell = cellsBefore + emailRecordFields.indexOf('quality');

/**
 * Two outputs in one: every row is in exactly one of them. The rejects are complete before the output, so
 * that whoever sees the output finds them.
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
  const { output, rejects, keep } = options;
  const sinks = rejects ? [rejects, output] : [output];
  const [others, kept] = rejects ? [0, 1] : [-1, 0];
  let leftOut = 0;
  let validLeftOut: number[] = [];
  const sink = routeSink({
    name: output.name,
    decides: { ...rejects?.decides, ...output.decides },
    sinks,
    createRoute(opening) {
      leftOut = 0;
      const byColumn = verdictsByColumn(keep, opening.reading.header, opening.verified);
      const fateOf = createKeepTest(keep.quality, byColumn, opening.whole ?? opening);
      const width = opening.added.length;
      const counts = byColumn.map(() => 0);
      validLeftOut = counts;
      return (outcomes, first) => {
        let isKept = true;
        // What is refused by its quality, or in a column that is named, was meant to be.
        let isMeant = false;
        for (let column = 0; column < width; column += 1) {
          const fate = fateOf(outcomes[first + column] ?? 0, column);
          if (fate === 'valid' || fate === 'kept') continue;
          isKept = false;
          isMeant ||= fate === 'poor' || byColumn[column] !== keep.verdicts;
        }
        if (isKept) return kept;
        for (let column = 0; column < width && !isMeant; column += 1) {
          if (fateOf(outcomes[first + column] ?? 0, column) !== 'valid') continue;
          counts[column] = (counts[column] ?? 0) + 1;
        }
        return others;
      };
    },
    onRows(place, rows) {
      if (place !== kept) leftOut += rows;
    },
  });
  return {
    ...sink,
    async examine(reading, columns) {
      // Before anything is paid.
      verdictsByColumn(keep, reading.header, columns.verified);
      return sink.examine?.(reading, columns);
    },
    rowsLeftOut: () => leftOut,
    validLeftOut: () => validLeftOut,
    leftAlone: () => output.leftAlone?.(),
  };
}

/** @throws ConfigurationError when one is named that is not verified */
function verdictsByColumn(
  { verdicts, columns = {} }: KeepRule,
  header: readonly string[],
  verified: readonly number[],
): readonly (readonly Verdict[] | undefined)[] {
  const named = Object.keys(columns);
  const isCalled = (name: string, position: number): boolean =>
    name === `#${position + 1}` || caseless(name) === caseless(header[position] ?? '');
  const other = named.find((name) => !verified.some((position) => isCalled(name, position)));
  if (other !== undefined) {
    const names = verified.map((position) => JSON.stringify(header[position] ?? '')).join(', ');
    throw new ConfigurationError(
      `${optionName('keep')} names the column ${JSON.stringify(other)}, which is not verified; verified columns: ${names}`,
    );
  }
  return verified.map((position) => {
    const name = named.find((each) => isCalled(each, position));
    return name === undefined ? verdicts : columns[name];
  });
}

/**
 * Whether a cell lets its row be kept, valid or not, and else whether its verdict does not, or what nobody wants
 * otherwise: its quality, or that it is suppressed.
 */
type CellFate = 'valid' | 'kept' | 'refused' | 'poor';
type KeepTest = (outcome: number, column: number) => CellFate;

/** Found out once for each outcome. */
function createKeepTest(
  quality: KeepRule['quality'],
  byColumn: readonly (readonly Verdict[] | undefined)[],
  found: AddedCells,
): KeepTest {
  const isEmail = found.added.map((columns) => columns[qualityCell]?.field === 'quality');
  if (quality && !isEmail.includes(true)) {
    throw new ConfigurationError('rows are to be kept by quality, which only emails have');
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

/** The verdict of a cell by what all columns of its result hold. */
export function verdictOfCells(cells: readonly OutputCell[]): Verdict {
  const flags = cells.slice(cellsBefore, cellsBefore + 3);
  return verdictOf({ values: flags.map((cell) => cell === true) });
}
