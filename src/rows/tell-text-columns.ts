import type { ColumnFacts, KindTally } from './kind-tally.js';
import type { OpenSinkOptions } from './sink.js';

/**
 * Gives what tells, once for each, which columns an output cannot keep as they are. Columns of text are
 * kept everywhere; one whose cells have nothing in common is told too.
 */
export function tellTextColumns({
  header,
  output,
  keeps,
  onTextColumn,
}: {
  readonly header: readonly string[];
  /** How messages call the output's format or database. */
  readonly output: string;
  /** Whether the output has a form for what is known of a column. */
  readonly keeps: (facts: ColumnFacts, column: number) => boolean;
  readonly onTextColumn: OpenSinkOptions['onTextColumn'];
}): (tally: KindTally) => void {
  const told = new Set<number>();
  return (tally) => {
    if (!onTextColumn || told.size === header.length) return;
    for (const [at, facts] of tally.facts.entries()) {
      if (told.has(at) || (keeps(facts, at) && !facts.isMixed)) continue;
      told.add(at);
      onTextColumn({
        column: header[at] ?? '',
        kind: facts.isMixed ? undefined : facts.kind,
        output,
      });
    }
  };
}
