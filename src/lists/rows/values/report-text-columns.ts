import type { ColumnFacts, KindTally } from './kind-tally.js';
import { kindOfValue, type Kind } from './kinds.js';
import type { RowChunk } from '../chunks/row-chunk.js';
import type { OpenSinkOptions } from '../sink.js';
import type { SourceReading } from '../source.js';

interface TextColumnReporting {
  readonly reading: Pick<SourceReading, 'header' | 'kinds'>;
  /** How messages call the output's format or database. */
  readonly output: string;
  readonly onTextColumn: OpenSinkOptions['onTextColumn'];
}

/**
 * Gives what tells, once for each, which columns an output cannot keep as they are. Columns of text are
 * kept everywhere; one whose cells have nothing in common is told too.
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
 * The same for an output whose cells each have a kind of their own: those that become text are told when
 * the first of a column comes, and what no cell of a kind can be at once.
 *
 * @param keeps whether the output has a form for a value of a kind; without a value, for any of them
 * @returns looks at the cells of a row
 */
export function reportTextCells(
  reporting: TextColumnReporting,
  keeps: (kind: Kind, value?: unknown) => boolean,
): (chunk: RowChunk, row: number, cells: readonly unknown[]) => void {
  const report = createReporter(reporting);
  const { kinds } = reporting.reading;
  for (const [at, kind] of (kinds ?? []).entries()) {
    if (kind && !keeps(kind)) report(at, kind);
  }
  return (chunk, row, cells) => {
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
