import type { Sink, Source } from '../../index.js';
import type { DatabaseKind } from '../../lists/location.js';

export interface Database {
  readonly kind: DatabaseKind;
  readonly url: string;
}

export interface DatabaseTable {
  /** As `--into` takes it. */
  readonly name: string;
  readonly schema: string;
  readonly table: string;
  readonly kind: DatabaseKind;
  readonly columns: readonly string[];
  /** The columns of its primary key. */
  readonly key: readonly string[];
}

/** The tables and views of a database; those whose columns are named as addresses are come first. */
export async function tablesOf({ kind, url }: Database): Promise<readonly DatabaseTable[]> {
  const { source } = await endsOf(kind);
  const { chunks } = await source({ url, query: columnQueries[kind] }).open({
    wanted: () => [0, 1, 2, 3],
  });
  const tables = new Map<string, DatabaseTable & { columns: string[]; key: string[] }>();
  for await (const chunk of chunks) {
    for (let row = 0; row < chunk.length; row += 1) {
      const [schema = '', table = '', column = '', isKey] = [0, 1, 2, 3].map((at) =>
        String(chunk.text(row, at)),
      );
      // The marker of runs holds no list.
      if (table === 'sluice_runs') continue;
      const parts = schema === '' ? [table] : [schema, table];
      const name = parts.map((part) => (/[."]/.test(part) ? quoteName(part, '') : part)).join('.');
      const known = tables.get(name) ?? { kind, schema, table, name, columns: [], key: [] };
      tables.set(name, known);
      known.columns.push(column);
      if (isKey === '1') known.key.push(column);
    }
  }
  const all = [...tables.values()];
  return [...all.filter(hasAddresses), ...all.filter((table) => !hasAddresses(table))];
}

export function hasAddresses({ columns }: DatabaseTable): boolean {
  return columns.some((column) => /mail|phone|mobil|cell|tel(?!l)|handy|whatsapp/i.test(column));
}

const mostTables = 20;

export function namesOf(tables: readonly DatabaseTable[]): string {
  const names = tables.slice(0, mostTables).map(({ name }) => name);
  return `${names.join(', ')}${tables.length > mostTables ? ', …' : ''}`;
}

export function selectNamed(
  columns: readonly string[],
  { kind }: { readonly kind: DatabaseKind },
): string {
  return `select ${[...new Set(columns)].map((column) => quoteName(column, kind)).join(', ')}`;
}

export function tableIn({ schema, table, kind }: DatabaseTable): string {
  const parts = schema === '' ? [table] : [schema, table];
  return parts.map((part) => quoteName(part, kind)).join('.');
}

function quoteName(name: string, kind: string): string {
  const quote = kind === 'mysql' ? '`' : '"';
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
}

/** Schema, empty for the current one; table; column; 1 for one of the primary key. */
const columnQueries: Readonly<Record<DatabaseKind, string>> = {
  postgres: `select case when n.nspname = current_schema() then '' else n.nspname end, c.relname, a.attname,
    case when a.attnum = any(i.indkey) then 1 else 0 end
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relkind in ('r', 'v', 'm', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    and not exists (select from pg_class s where s.relnamespace = n.oid and s.relname = 'pacing')
    order by n.nspname is distinct from current_schema(), n.nspname, c.relname, a.attnum`,
  mysql: `select '', table_name, column_name, if(column_key = 'PRI', 1, 0)
    from information_schema.columns where table_schema = database() order by table_name, ordinal_position`,
  duckdb: `select '', table_name, column_name, case when exists (
      select 1 from duckdb_constraints() k where k.table_oid = c.table_oid
      and k.constraint_type = 'PRIMARY KEY' and list_contains(k.constraint_column_names, c.column_name)) then 1 else 0 end
    from duckdb_columns() c where not internal and database_name = current_database() and schema_name = current_schema()
    order by table_name, column_index`,
  sqlite: `select '', m.name, c.name, c.pk > 0 from sqlite_master m join pragma_table_info(m.name) c
    where m.type in ('table', 'view') and m.name not like 'sqlite_%' order by m.name, c.cid`,
};

interface DatabaseEnds {
  readonly source: (options: { readonly url: string; readonly query: string }) => Source;
  readonly sink: (options: {
    readonly url: string;
    readonly into: string;
    readonly key?: readonly string[];
  }) => Sink;
}

export async function endsOf(kind: DatabaseKind): Promise<DatabaseEnds> {
  switch (kind) {
    case 'postgres': {
      const { postgresSource, postgresSink } = await import('../../lists/sql/postgres/index.js');
      return { source: postgresSource, sink: postgresSink };
    }
    case 'sqlite': {
      const { sqliteSource, sqliteSink } = await import('../../lists/sql/sqlite/index.js');
      return { source: sqliteSource, sink: sqliteSink };
    }
    case 'mysql': {
      const { mysqlSource, mysqlSink } = await import('../../lists/sql/mysql/index.js');
      return { source: mysqlSource, sink: mysqlSink };
    }
    case 'duckdb': {
      const { duckdbSource, duckdbSink } = await import('../../lists/sql/duckdb/index.js');
      return { source: duckdbSource, sink: duckdbSink };
    }
  }
}
