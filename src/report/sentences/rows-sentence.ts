import { grouped } from '../../platform/text/shown-numbers.js';

/** Where the rows of a run went. */
interface WrittenRows {
  readonly rows: number;
  readonly outputs: readonly { readonly name: string; readonly rows: number }[];
}

/** `wrote 219 rows to clean.csv, 121 to rejects.csv` */
export function rowsSentence({ rows, outputs }: WrittenRows): string {
  const parts = outputs.map(
    ({ name, rows: count }, index) => `${rowsTo(count, index === 0)} to ${name}`,
  );
  const left = rows - outputs.reduce((sum, output) => sum + output.rows, 0);
  const others = left > 0 ? [`left out ${grouped(left)}`] : [];
  return `wrote ${[...parts, ...others].join(', ')}`;
}

function rowsTo(count: number, isFirst: boolean): string {
  if (!isFirst) return grouped(count);
  return `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`;
}
