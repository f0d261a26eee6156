import { OutputError } from '../../errors/family.js';
import type { TablePlan } from '../plan-table.js';
import { refuseRepeatedKeys, repeatedKeysQuery } from '../repeated-keys.js';
import type { CellValue } from '../row-values.js';
import { stagedStatements, type StagedTable } from '../staged-statements.js';
import { cellOf } from './duckdb-kinds.js';
import { rowsAtOnce, type DuckdbDatabase, type TextAppender } from './open-duckdb.js';

const table = 'sluice_staging';

/** The staged rows with cells of the table's own types. */
const staged: StagedTable = {
  name: 'temp.sluice_rows',
  rowNumber: 'sluice_row',
  // To write an indexed row is to delete it and make it anew.
  skipsSame: ['update', 'upsert'],
  // Within a row, a column's collation does not count: small letters are no capitals.
  differs: (cell, other) => `row(${cell}) IS DISTINCT FROM row(${other})`,
};

/** What brings the staged rows to where they belong. */
export function applyStatements(plan: TablePlan): readonly string[] {
  return stagedStatements(plan, staged);
}

/** A column that is written, with the type that its cells get. */
export interface StagedColumn {
  readonly name: string;
  readonly type: string;
}

/**
 * Rows in a temporary table, all text, before they are where they belong: only the database itself knows
 * what it takes for a cell of a type.
 */
export class StagedRows {
  readonly #database: DuckdbDatabase;
  readonly #columns: readonly StagedColumn[];
  readonly #appender: TextAppender;
  #waiting: (string | null)[][];

  private constructor(
    database: DuckdbDatabase,
    columns: readonly StagedColumn[],
    appender: TextAppender,
  ) {
    this.#database = database;
    this.#columns = columns;
    this.#appender = appender;
    this.#waiting = columns.map(() => []);
  }

  static async create(
    database: DuckdbDatabase,
    columns: readonly StagedColumn[],
  ): Promise<StagedRows> {
    const texts = columns.map((_, at) => `c${at} VARCHAR`);
    await database.run(`CREATE TEMP TABLE ${table} (${texts.join(', ')})`);
    const cells = columns.map(({ type }, at) => `${cellOf(`c${at}`, type)} AS c${at}`);
    await database.run(
      `CREATE TEMP VIEW ${staged.name.replace('temp.', '')} AS SELECT rowid AS sluice_row, ${cells.join(', ')} FROM temp.${table}`,
    );
    return new StagedRows(database, columns, await database.append(table));
  }

  add(values: readonly CellValue[]): void {
    for (const [at, { type }] of this.#columns.entries()) {
      this.#waiting[at]?.push(textOfValue(values[at] ?? null, type));
    }
    if (this.#waiting[0]?.length === rowsAtOnce) this.#send();
  }

  end(): void {
    this.#send();
    this.#appender.end();
  }

  /** @throws OutputError for a cell that its column does not take, and a key that stands twice */
  async check(key: TablePlan['key']): Promise<void> {
    await this.#refuseMisfits();
    if (key.length === 0) return;
    const cells = key.map((name) => `c${this.#columns.findIndex((each) => each.name === name)}`);
    refuseRepeatedKeys(await this.#database.rows(repeatedKeysQuery(staged.name, cells)), key);
  }

  async #refuseMisfits(): Promise<void> {
    const firsts = this.#columns.map(
      ({ type }, at) =>
        `min(rowid) FILTER (c${at} IS NOT NULL AND ${cellOf(`c${at}`, type, 'TRY_CAST')} IS NULL)`,
    );
    const [found = []] = await this.#database.rows(
      `SELECT ${firsts.join(', ')} FROM temp.${table}`,
    );
    const at = found.findIndex((row) => row !== null);
    if (at === -1) return;
    const { name = '', type = '' } = this.#columns[at] ?? {};
    throw new OutputError(
      `a cell does not fit in column ${JSON.stringify(name)} of row ${Number(found[at]) + 1}: it takes ${type}`,
    );
  }

  #send(): void {
    if (this.#waiting[0]?.length === 0) return;
    this.#appender.add(this.#waiting);
    this.#waiting = this.#columns.map(() => []);
  }
}

/** Tries what would be done with no rows at all, and takes it back. */
export async function rehearse(
  database: DuckdbDatabase,
  plan: TablePlan,
  columns: readonly StagedColumn[],
): Promise<void> {
  (await StagedRows.create(database, columns)).end();
  await database.run('BEGIN');
  for (const statement of applyStatements(plan)) await database.run(statement);
  await database.run('ROLLBACK');
}

function textOfValue(value: CellValue, type: string): string | null {
  if (value === null) return null;
  if (type === 'BLOB') return bytesOf(value).toString('hex');
  if (value instanceof Uint8Array) return `\\x${bytesOf(value).toString('hex')}`;
  if (type === 'JSON' && typeof value === 'string' && !isJson(value)) return JSON.stringify(value);
  return String(value);
}

function bytesOf(value: Exclude<CellValue, null>): Buffer {
  if (!(value instanceof Uint8Array)) return Buffer.from(String(value));
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
