import { emailRecordFields } from '../contract/records.js';
import { ConfigurationError } from '../errors/family.js';
import { verdictOf, type Verdict } from '../results/verdict.js';
import type { AddedCells, OutputCell, Sink } from '../rows/sink.js';
import { OutcomeForms } from './outcome-forms.js';
import { routeSink } from './route-sink.js';

/** Which rows an output is to have. */
export interface KeepRule {
  /** Rows whose verified columns all have one of these verdicts. @default any */
  readonly verdicts?: readonly Verdict[];
  /** Rows whose emails all have one of these qualities. @default any */
  readonly quality?: readonly string[];
}

export interface SplitSinkOptions {
  /** Gets the rows that are kept. */
  readonly output: Sink;
  /** Gets all others. @default they are dropped */
  readonly rejects?: Sink;
  readonly keep: KeepRule;
}

/** Cells in front of those of the record. */
const cellsBefore = 2;
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
 *   keep: { verdicts: ['valid'] },
 * });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * ```
 */
export function splitSink({ output, rejects, keep }: SplitSinkOptions): Sink {
  const sinks = rejects ? [rejects, output] : [output];
  const [others, kept] = rejects ? [0, 1] : [-1, 0];
  let leftOut = 0;
  const sink = routeSink({
    name: output.name,
    decides: { ...rejects?.decides, ...output.decides },
    sinks,
    createRoute(opening) {
      leftOut = 0;
      const isKept = createKeepTest(keep, opening.whole ?? opening);
      const width = opening.added.length;
      return (outcomes, first) => {
        for (let column = 0; column < width; column += 1) {
          if (!isKept(outcomes[first + column] ?? 0, column)) return others;
        }
        return kept;
      };
    },
    onRows(place, rows) {
      if (place !== kept) leftOut += rows;
    },
  });
  return { ...sink, rowsLeftOut: () => leftOut, leftAlone: () => output.leftAlone?.() };
}

type KeepTest = (outcome: number, column: number) => boolean;

/** Whether a cell lets its row be kept; found out once for each outcome. */
function createKeepTest({ verdicts, quality }: KeepRule, found: AddedCells): KeepTest {
  const isEmail = found.added.map((columns) => columns[qualityCell]?.field === 'quality');
  if (quality && !isEmail.includes(true)) {
    throw new ConfigurationError('rows are to be kept by quality, which only emails have');
  }
  const test = (cells: readonly OutputCell[], column: number): boolean => {
    if (verdicts && !verdicts.includes(verdictOfCells(cells))) return false;
    return !quality || isEmail[column] !== true || quality.includes(String(cells[qualityCell]));
  };
  const known = new OutcomeForms(found, test);
  return (outcome, column) => known.of(column, outcome);
}

/** The verdict of a cell by what all columns of its result hold. */
export function verdictOfCells(cells: readonly OutputCell[]): Verdict {
  const flags = cells.slice(cellsBefore, cellsBefore + 3);
  return verdictOf({ values: flags.map((cell) => cell === true) });
}
