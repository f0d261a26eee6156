import type { OpenSinkOptions } from '../../rows/sink.js';
import { RefusedRows } from '../database-failure.js';
import type { Staging } from '../dialect.js';
import { stageValues, type CellValue } from '../tables/row-values.js';
import type { TablePlan } from '../tables/table-plan.js';
import type { MysqlConnection } from './connect.js';
import { keyTypeOf, statements } from './statements.js';

/** Rows go out in statements of so many, and of about so many characters: a server may take no more than 1 MiB. */
const rowsAtOnce = 500;
const charactersAtOnce = 128 * 1024;

/** The staging table's columns have the target's types, or those that they will get. */
export async function stage(
  connection: MysqlConnection,
  plan: TablePlan,
  opening: OpenSinkOptions,
): Promise<Staging> {
  const { mode, target, columns, missing, key } = plan;
  const { staging, rowNumber, quote, stagedName, tableOptions } = statements;
  const isNew = mode === 'create';
  const definitions = [`${rowNumber} BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY`];
  const existing: string[] = [];
  for (const [at, column] of columns.entries()) {
    const { name, type } = column;
    const staged = stagedName(name, at);
    if (isNew || missing.includes(column)) {
      definitions.push(`${staged} ${key.includes(name) ? keyTypeOf(type) : type}`);
    } else {
      existing.push(`${quote(name)} AS ${staged}`);
    }
  }
  const like = isNew ? '' : ` AS SELECT ${existing.join(', ')} FROM ${target} LIMIT 0`;
  await connection.query(
    `CREATE TEMPORARY TABLE ${staging} (${definitions.join(', ')})${tableOptions ?? ''}${like}`,
  );
  const names = columns.map(({ name }, at) => stagedName(name, at));
  const toStage = await stagers(connection, columns);
  let rowCount = 0;
  let waiting: unknown[][] = [];
  let characters = 0;
  const send = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const rows = waiting;
    waiting = [];
    characters = 0;
    const insert = `INSERT INTO ${staging} (${names.join(', ')}) VALUES ?`;
    await connection.query(insert, [rows]).catch((error: unknown) => {
      throw withColumn(error, columns);
    });
  };
  return stageValues(
    plan,
    opening,
    (values) => {
      rowCount += 1;
      const row = values.map((value, at) => toStage[at]?.(value, rowCount));
      waiting.push(row);
      for (const value of row) characters += lengthOf(value);
      const isFull = waiting.length >= rowsAtOnce || characters >= charactersAtOnce;
      return isFull ? send() : undefined;
    },
    send,
  );
}

/** What the server says of the staging table's columns, with the names of the columns that they are for. */
function withColumn(error: unknown, columns: TablePlan['columns']): unknown {
  const at = /column (?:`[^`]*`\.){0,2}['`]c(\d+)['`]/.exec(
    error instanceof Error ? error.message : '',
  )?.[1];
  const column = at === undefined ? undefined : columns[Number(at)];
  return column ? Object.assign(error as Error, { stagedColumn: column.name }) : error;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 4;
}

type Stager = (value: CellValue, row: number) => unknown;

async function stagers(
  connection: MysqlConnection,
  columns: TablePlan['columns'],
): Promise<readonly Stager[]> {
  const shown = await connection.query(`SHOW COLUMNS FROM ${statements.staging}`);
  const types = new Map(shown.map(([name, type]) => [String(name), String(type)]));
  return columns.map(({ name, type }, at) => {
    const stagedType = types.get(statements.stagedName(name, at)) ?? '';
    if (stagedType.startsWith('bit')) {
      // The digits of a text would be its bits.
      return (value) => {
        const text = String(value);
        return isNumber.test(text) ? { toSqlString: () => String(BigInt(text)) } : value;
      };
    }
    if (!/^(?:enum|set)\(/.test(stagedType)) return (value) => stagingValue(value, type);
    const texts = new Set([...stagedType.matchAll(/'((?:[^']|'')*)'/g)].map(([, text]) => text));
    return (value, row) => {
      // The server would take it for the number of one of the texts.
      if (typeof value !== 'string' || !isNumber.test(value) || texts.has(value)) return value;
      throw new RefusedRows('a cell does not fit', {
        kind: 'misfit',
        column: name,
        row,
        detail: `it takes ${stagedType}`,
      });
    };
  });
}

const isNumber = /^ *[+-]?\d+$/;
const isTime = /^(?:datetime|timestamp)/i;

function stagingValue(value: CellValue, type: string): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return null;
  if (value instanceof Uint8Array && !Buffer.isBuffer(value)) return Buffer.from(value);
  // The server accepts no zone; the session uses this one anyway.
  if (typeof value === 'string' && isTime.test(type)) return value.replace(/(?:\+00|Z)$/, '');
  return value;
}
