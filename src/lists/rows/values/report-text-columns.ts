import type { ColumnFacts, KindTally } from './kind-tally.js';
import { kindOfValue, type Kind } from './kinds.js';
import type { RowChunk } from '../chunks/row-chunk.js';
import type { OpenSinkOptions } from '../sink.js';
import type { SourceReading } from '../source.js';

interface Telling {
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
  telling: Telling,
  keeps: (facts: ColumnFacts) => boolean,
): (tally: KindTally) => void {
  const tell = createTeller(telling);
  return (tally) => {
    for (const [at, facts] of tally.facts.entries()) {
      if (facts.isMixed) tell(at, undefined);
      else if (!keeps(facts)) tell(at, facts.kind);
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
  telling: Telling,
  keeps: (kind: Kind, value?: unknown) => boolean,
): (chunk: RowChunk, row: number, cells: readonly unknown[]) => void {
  const tell = createTeller(telling);
  const { kinds } = telling.reading;
  for (const [at, kind] of (kinds ?? []).entries()) {
    if (kind && !keeps(kind)) tell(at, kind);
  }
  return (chunk, row, cells) => {
    if (!chunk.value) return;
    for (const [at, value] of cells.entries()) {
      if (value === null || value === undefined) continue;
      const kind = kinds?.[at] ?? chunk.kind?.(row, at) ?? kindOfValue(value);
      if (kind && kind.name !== 'text' && !keeps(kind, value)) tell(at, kind);
    }
  };
}

function createTeller({
  reading: { header },
  output,
  onTextColumn,
}: Telling): (at: number, kind: Kind | undefined) => void {
  const told = new Set<number>();
  return (at, kind) => {
    if (!onTextColumn || told.has(at)) return;
    told.add(at);
    onTextColumn({ column: header[at] ?? '', kind, output });
  };
}
