import { ConfigurationError } from '../../../platform/errors/errors.js';
import { namesNear } from '../../../platform/text/closest-name.js';
import { optionName } from '../../../platform/text/sentence.js';
import { refuseRepeatedNames } from '../../rows/chunks/table-rows.js';
import type { OpenSinkOptions } from '../../rows/sink.js';
import type { SourceReading } from '../../rows/source.js';
import { type ColumnFacts, factsOfKind } from '../../rows/values/kind-tally.js';
import type { Kind } from '../../rows/values/kinds.js';
import type { DialectForm } from '../dialect.js';
import {
  fitNames,
  refuseSameNames,
  spelling,
  qualifiedName,
  type TableName,
  type NewColumn,
  type RunMarker,
  type TablePlan,
  type TargetPlan,
  type ExistingTable,
} from './table-plan.js';
import { TableReading } from './table-reading.js';
import {
  findGuardedColumns,
  isSameDatabase,
  originColumn,
  refuseUntraced,
  type TargetDatabase,
} from './update-guard.js';

export interface TableLocation extends TargetDatabase {
  readonly name: TableName;
  readonly table: ExistingTable | undefined;
  readonly marker: RunMarker | undefined;
}

interface TableTarget {
  /** Names of the key columns; none for a new table. */
  readonly key: readonly string[];
  readonly isUpdate: boolean | undefined;
  /** Facts of the input's columns, where they were examined. */
  readonly facts: readonly ColumnFacts[] | undefined;
}

export function planTable(
  place: TableLocation,
  target: TableTarget,
  opening: OpenSinkOptions,
): TablePlan {
  const wanted = wantedColumns(place, target, opening);
  return place.table
    ? planExisting(place.table, wanted, place, target, opening)
    : planNew(wanted, place);
}

/** The rows' columns by the names that they get in the table. */
interface WantedColumns {
  readonly shared: TargetPlan;
  readonly header: readonly string[];
  readonly input: readonly NewColumn[];
  readonly extra: readonly NewColumn[];
}

function wantedColumns(
  place: TableLocation,
  { key: keyNames, facts }: TableTarget,
  { reading, added }: OpenSinkOptions,
): WantedColumns {
  const { dialect, name: tableName, table, marker } = place;
  const { quote, longestName, ignoresCase = false } = dialect.statements;
  refuseRepeatedNames(reading.header, 'a table');
  const keyPositions = findKeyColumns(reading.header, keyNames);
  const wanted = [
    ...reading.header.map((column) => ({ name: column })),
    ...added.flat().map((column) => ({ name: column.name, ending: `_${column.field}` })),
  ];
  const fitted = fitNames(wanted, longestName);
  const renamed = wanted.flatMap(({ name: from }, at): TablePlan['renamed'] => {
    const to = fitted[at] ?? from;
    return to === from ? [] : [{ from, to }];
  });
  const names = fitted.map((column) => (ignoresCase ? spelling(column, table) : column));
  if (ignoresCase) refuseSameNames(names);
  const header = names.slice(0, reading.header.length);
  const typeIn = (kind: Kind): string => table?.typeOf?.(kind) ?? typeOfKind(dialect, kind);
  const key = keyPositions.map((position) => header[position] ?? '');
  const target = qualifiedName(tableName, quote);
  return {
    shared: { name: tableName, target, marker, key, keyPositions, renamed },
    header,
    input: inputColumns(reading, header, { place, facts }),
    extra: added.flat().map(({ kind }, at) => ({
      name: names[header.length + at] ?? '',
      type: typeIn({ name: kind }),
    })),
  };
}

function planNew({ shared, input, extra }: WantedColumns, { dialect }: TableLocation): TablePlan {
  const textType = typeOfKind(dialect, { name: 'text' });
  return {
    ...shared,
    mode: 'create',
    positions: input.map((_, position) => position),
    columns: [...input, ...extra],
    missing: [],
    guards: [],
    unguarded: [],
    isText: (position) => {
      const { type, isOfSource = false } = input[position] ?? {};
      // A column without a type accepts any cell.
      return isOfSource || type === textType || type === '';
    },
    numberTypeOf: () => undefined,
    isCaseless: () => false,
  };
}

function planExisting(
  table: ExistingTable,
  { shared, header, input, extra }: WantedColumns,
  place: TableLocation,
  target: TableTarget,
  opening: OpenSinkOptions,
): TablePlan {
  const { reading, runId } = opening;
  const { key, keyPositions, name, marker } = shared;
  const { nameParts, statements } = place.dialect;
  // Without a schema the name alone is shown.
  const shown = nameParts === 1 ? statements.quote(name.table) : shared.target;
  refuseOther(shown, table, key.length > 0 || (marker !== undefined && marker.run === runId));
  const lacksKey = key.find((name) => !table.columns.some((column) => column.name === name));
  if (lacksKey !== undefined) refuseLacking(shown, table, lacksKey);
  if (key.length > 0) refuseUnfitKey(shown, table, key);
  const isUpdate = key.length > 0 && (target.isUpdate ?? isOfTable(reading, shared, place, table));
  if (key.length > 0 && !isUpdate && target.isUpdate === undefined) {
    refuseUntraced(shown, opening, keyPositions, place, table);
  }
  const found = new Map(table.columns.map((column) => [column.name, column]));
  const compared = isUpdate ? findGuardedColumns(opening, place, table) : undefined;
  const guards = new Map(
    [...(compared?.names ?? [])].filter(
      ([, column]) => !key.includes(column) && !extra.some(({ name: added }) => added === column),
    ),
  );
  const columnAt = (position: number): string => guards.get(position) ?? header[position] ?? '';
  const positions = (isUpdate ? [...keyPositions, ...guards.keys()] : [...header.keys()])
    .filter((position) => isUpdate || found.get(columnAt(position))?.isGenerated !== true)
    .toSorted((a, b) => a - b);
  // Cells that were read from the table are as they have to be.
  const isItself = (position: number): boolean =>
    isSameDatabase(reading, place) && originColumn(reading, position, table) === columnAt(position);
  const columns = [
    ...positions.map((position) => ({
      type: '',
      ...input[position],
      name: columnAt(position),
      isUnchanged: isItself(position),
    })),
    ...extra.map((column) => ({ ...column, isUnchanged: false })),
  ].map(({ name, type, isUnchanged }): NewColumn => {
    const existing = found.get(name);
    return {
      name,
      type: existing?.type ?? type,
      isPrinted: existing?.isPrinted === true && !isUnchanged,
    };
  });
  const missing = columns.filter((column) => !found.has(column.name));
  const lacking = missing.find((column) => header.includes(column.name));
  if (lacking) refuseLacking(shown, table, lacking.name);
  return {
    ...shared,
    mode: key.length === 0 ? 'replace' : isUpdate ? 'update' : 'upsert',
    positions,
    columns,
    missing,
    guards: [...guards.values()],
    unguarded: compared?.unguarded ?? [],
    isText: (position) => {
      const { isText = false, numberType } = found.get(columnAt(position)) ?? {};
      const { type, isOfSource = false } = input[position] ?? {};
      // A source column of the same type has what this one accepts.
      return isText || (isOfSource && type === numberType);
    },
    numberTypeOf: (position) =>
      positions.includes(position) ? found.get(columnAt(position))?.numberType : undefined,
    isCaseless: (position) => found.get(columnAt(position))?.isCaseless === true,
  };
}

function findKeyColumns(header: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((name) => {
    const position = header.indexOf(name);
    if (position !== -1) return position;
    throw new ConfigurationError(
      `the rows have no column ${JSON.stringify(name)} to be their key; they have ${namesNear(name, header)}`,
      { code: 'column_not_found', option: 'key', column: name },
    );
  });
}

function inputColumns(
  reading: SourceReading,
  names: readonly string[],
  { place, facts }: { readonly place: TableLocation; readonly facts: TableTarget['facts'] },
): readonly NewColumn[] {
  const { dialect } = place;
  const declaredTypes = sourceTypes(reading, place);
  const text = typeOfKind(dialect, { name: 'text' });
  return names.map((name, position) => {
    const found = facts?.[position] ?? factsOfKind(reading.kinds?.[position]);
    const type = declaredTypes[position] ?? dialect.typeOf(found) ?? text;
    const isOfSource = declaredTypes[position] !== undefined;
    return { name, type, isPrinted: !isOfSource && type === text, isOfSource };
  });
}

/** Types of the columns in a source database of the same kind, which accepts them unchanged. */
export function sourceTypes(
  reading: SourceReading,
  { dialect, store }: TargetDatabase,
): readonly (string | undefined)[] {
  if (!(reading instanceof TableReading) || reading.form.dialect !== dialect.name) return [];
  const { form } = reading;
  return form.columns.map(({ type, kind, isUserType }) => {
    if (isUserType === true && form.store !== store) return undefined;
    // A column without a type has a type for each cell.
    return type === '' && kind !== 'any' ? undefined : type;
  });
}

function typeOfKind({ typeOf }: DialectForm, kind: Kind): string {
  return typeOf(factsOfKind(kind)) ?? '';
}

function refuseOther(name: string, { isTable, engine }: ExistingTable, isWelcome: boolean): void {
  if (engine !== undefined) {
    throw new ConfigurationError(
      `the table ${name} is of the engine ${engine}, which has no transactions: convert it with ALTER TABLE ${name} ENGINE=InnoDB, or name another table`,
      { fault: 'unsupported' },
    );
  }
  if (!isTable) {
    throw new ConfigurationError(
      `${name} is not a table but a view or the like: name the table behind it, or a new one`,
      { fault: 'view' },
    );
  }
  if (isWelcome) return;
  throw new ConfigurationError(
    `the table ${name} is there already, and it is not written over: give its key column (${optionName('key')}), which updates its rows or adds to them, or name another table`,
    { option: 'key', fault: 'exists' },
  );
}

function refuseUnfitKey(
  name: string,
  { keys, columns }: ExistingTable,
  key: readonly string[],
): void {
  const rounded = columns.find((column) => column.isRounded === true && key.includes(column.name));
  if (rounded) {
    throw new ConfigurationError(
      `the column ${rounded.name} of the table ${name} cannot be its key: the database prints fewer digits of its cells than they hold, so their rows would not be found again; name another key, or make it a DOUBLE or DECIMAL`,
      { option: 'key', column: rounded.name },
    );
  }
  const wanted = [...key].toSorted().join('\0');
  if (keys.some((columns) => [...columns].toSorted().join('\0') === wanted)) return;
  throw new ConfigurationError(
    `the table ${name} may hold a key more than once: it needs a primary key or a unique index on ${key.join(', ')}`,
    { option: 'key', column: key.length === 1 ? key[0] : undefined, fault: 'not_unique' },
  );
}

function refuseLacking(name: string, { columns }: ExistingTable, lacking: string): never {
  const names = columns.map((column) => column.name);
  const other = names.find((each) => each.toLowerCase() === lacking.toLowerCase());
  const remedy =
    other === undefined
      ? 'add it, or leave it out of the input'
      : `names are taken with their capitals, so name the input's column ${JSON.stringify(other)} too`;
  throw new ConfigurationError(
    `the table ${name} has no column ${JSON.stringify(lacking)}; it has ${namesNear(lacking, names)}: ${remedy}`,
    { code: 'column_not_found', column: lacking },
  );
}

function isOfTable(
  reading: SourceReading,
  { key, keyPositions }: TargetPlan,
  place: TableLocation,
  table: ExistingTable,
): boolean {
  if (!isSameDatabase(reading, place)) return false;
  return keyPositions.every((position, at) => originColumn(reading, position, table) === key[at]);
}
