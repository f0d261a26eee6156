import type { TableThere } from '../plan-table.js';
import { markerOfRow, markersTable, type RunMarker } from '../run-marker.js';
import type { SqliteDatabase } from './open-sqlite.js';
import { quoteName } from '../quote-name.js';
import { isTextType } from './sqlite-kinds.js';

export function findTable(database: SqliteDatabase, name: string): TableThere | undefined {
  const [found] = [
    ...database.rows(
      "SELECT name, type FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)",
      name,
    ),
  ];
  if (!found) return undefined;
  const columns = [
    ...database.rows('SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)', name),
  ];
  const primary = columns.filter(([, , at]) => Number(at) > 0).map(([column]) => String(column));
  const indexes = [
    ...database.rows(
      'SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0',
      name,
    ),
  ].map(([index]) =>
    [...database.rows('SELECT name FROM pragma_index_info(?)', index)].map(([column]) =>
      String(column),
    ),
  );
  return {
    id: String(found[0]),
    isTable: found[1] === 'table',
    columns: columns.map(([column, type, , hidden]) => ({
      name: String(column),
      isText: isTextType(String(type)),
      isGenerated: Number(hidden) > 1,
    })),
    keys: primary.length === 0 ? indexes : [primary, ...indexes],
  };
}

const markers = quoteName(markersTable);

export function readMarker(database: SqliteDatabase, target: string): RunMarker | undefined {
  if (!findTable(database, markersTable)) return undefined;
  const [found] = [
    ...database.rows(
      `SELECT run, digest, applied, rows FROM main.${markers} WHERE target = ?`,
      target,
    ),
  ];
  return markerOfRow(found);
}

export function writeMarker(
  database: SqliteDatabase,
  target: string,
  { run, digest, applied, rows }: RunMarker,
): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS main.${markers} (target TEXT PRIMARY KEY, run TEXT NOT NULL, digest TEXT NOT NULL, applied INTEGER NOT NULL, rows INTEGER NOT NULL, written_at TEXT NOT NULL)`,
  );
  database.run(
    `INSERT OR REPLACE INTO main.${markers} VALUES (?, ?, ?, ?, ?, datetime('now'))`,
    target,
    run,
    digest,
    BigInt(applied),
    BigInt(rows),
  );
}
