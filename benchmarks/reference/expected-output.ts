import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { contactColumns } from '../data/contacts.js';

/** A verified column, and the cells that it adds for an address. */
export interface ExpectedColumn {
  readonly column: (typeof contactColumns)[number];
  readonly added: readonly string[];
  cellsOf(address: string, country: string): readonly string[];
}

/**
 * The SHA-256 that a run's output must have, worked out slowly: each row's own bytes as csv-parse cuts
 * them, and behind them the new cells as csv-stringify writes them.
 */
export async function expectedOutputHash(
  input: string,
  columns: readonly ExpectedColumn[],
): Promise<string> {
  const hash = createHash('sha256');
  hash.update(`${[...contactColumns, ...columns.flatMap(({ added }) => added)].join(',')}\n`);
  const rows = createReadStream(input).pipe(parse({ columns: true, raw: true }));
  for await (const row of rows) {
    // The shape that the parser's options ask for.
    const { raw, record } = row as { raw: string; record: Readonly<Record<string, string>> };
    const { country = '' } = record;
    const cells = columns.flatMap((verified) =>
      verified.cellsOf(record[verified.column] ?? '', country),
    );
    hash.update(`${raw.replace(/\n$/, '')},${stringify([[...cells]])}`);
  }
  return hash.digest('hex');
}
