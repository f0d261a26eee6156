import { emailRecordFields } from '../contract/records.js';
import { ConfigurationError } from '../errors/family.js';
import { verdictOf, type Verdict } from '../results/verdict.js';
import type {
  JoinedRows,
  OpenSinkOptions,
  OutputCell,
  RowExaminer,
  Sink,
  SinkWriting,
} from '../rows/sink.js';
import { OutcomeForms } from './outcome-forms.js';

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
 */
export function splitSink({ output, rejects, keep }: SplitSinkOptions): Sink {
  const sinks = rejects ? [output, rejects] : [output];
  const bounds = sinks.flatMap(({ maxRows }) => (maxRows === undefined ? [] : [maxRows]));
  let leftOut = 0;
  return {
    name: output.name,
    ...(bounds.length > 0 && { maxRows: Math.min(...bounds) }),
    decides: { ...rejects?.decides, ...output.decides },
    rowsLeftOut: () => leftOut,
    leftAlone: () => output.leftAlone?.(),
    async check(verifiedColumns) {
      for (const sink of sinks) await sink.check(verifiedColumns);
    },
    async examine(reading, columns) {
      const shared = { ...columns, onTextColumn: tellOnce(columns.onTextColumn) };
      const examiners = await Promise.all(
        sinks.map(async (sink) => sink.examine?.(reading, shared)),
      );
      const wanted = examiners.filter((examine) => examine !== undefined);
      if (wanted.length === 0) return undefined;
      const all: RowExaminer = (chunk) => {
        for (const examine of wanted) examine(chunk);
      };
      return Object.assign(all, {
        async end() {
          for (const examine of wanted) await examine.end?.();
        },
      });
    },
    async hasWritten(runId) {
      for (const sink of sinks) if ((await sink.hasWritten?.(runId)) === true) return true;
      return false;
    },
    async mayBeginEarly() {
      for (const sink of sinks) if (!(await sink.mayBeginEarly?.())) return false;
      return true;
    },
    async open(given) {
      const opening = { ...given, onTextColumn: tellOnce(given.onTextColumn) };
      leftOut = 0;
      const isKept = createKeepTest(keep, opening);
      const kept = await output.open(opening);
      const others = await rejects?.open(opening).catch(async (error: unknown) => {
        await kept.abort();
        throw error;
      });
      return {
        async write(rows) {
          for (const stretch of stretches(rows, isKept)) {
            if (stretch.isKept) await kept.write(stretch.rows);
            else leftOut += stretch.rows.to - stretch.rows.from;
            if (!stretch.isKept) await others?.write(stretch.rows);
          }
        },
        async finish() {
          await others?.finish();
          await kept.finish();
        },
        async abort() {
          await kept.abort();
          await others?.abort();
        },
      } satisfies SinkWriting;
    },
  };
}

/** Tells of a column once where both outputs make it text in the same way. */
function tellOnce(tell: OpenSinkOptions['onTextColumn']): OpenSinkOptions['onTextColumn'] {
  const told = new Set<string>();
  return (
    tell &&
    ((column) => {
      const key = `${column.output} ${column.column}`;
      if (told.has(key)) return;
      told.add(key);
      tell(column);
    })
  );
}

type KeepTest = (outcome: number, column: number) => boolean;

/** Whether a cell lets its row be kept; found out once for each outcome. */
function createKeepTest(
  { verdicts, quality }: KeepRule,
  { added, cellsOf }: Pick<OpenSinkOptions, 'added' | 'cellsOf'>,
): KeepTest {
  const isEmail = added.map((columns) => columns[qualityCell]?.field === 'quality');
  if (quality && !isEmail.includes(true)) {
    throw new ConfigurationError('rows are to be kept by quality, which only emails have');
  }
  const test = (cells: readonly OutputCell[], column: number): boolean => {
    const [, , valid = null, wrong = null, unknown = null] = cells;
    const verdict = verdictOf({ values: [valid, wrong, unknown].map(flag) });
    if (verdicts && !verdicts.includes(verdict)) return false;
    return !quality || isEmail[column] !== true || quality.includes(String(cells[qualityCell]));
  };
  const known = new OutcomeForms({ added, cellsOf }, test);
  return (outcome, column) => known.of(column, outcome);
}

function flag(cell: OutputCell): boolean {
  return cell === true;
}

/** The rows of a stretch, cut where rows that are kept and others meet. */
function* stretches(
  rows: JoinedRows,
  isKept: KeepTest,
): Generator<{ readonly isKept: boolean; readonly rows: JoinedRows }> {
  const { from, to, width, outcomes } = rows;
  const keeps = (row: number): boolean => {
    const first = (row - from) * width;
    for (let column = 0; column < width; column += 1) {
      if (!isKept(outcomes[first + column] ?? 0, column)) return false;
    }
    return true;
  };
  let start = from;
  while (start < to) {
    const isFirstKept = keeps(start);
    let end = start + 1;
    while (end < to && keeps(end) === isFirstKept) end += 1;
    const cut = outcomes.subarray((start - from) * width, (end - from) * width);
    yield { isKept: isFirstKept, rows: { ...rows, from: start, to: end, outcomes: cut } };
    start = end;
  }
}
