import {
  holdSinks,
  type JoinedRows,
  type OpenSinkOptions,
  type RowValidator,
  type Sink,
  type SinkWriting,
  type LockWait,
} from '../../rows/sink.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { dropWriting, guardedSink, ofLibrary, withMembers } from '../../rows/guarded-ends.js';
import { notice } from '../../../platform/text/notices.js';
import { inFileName } from '../../../platform/text/printable.js';
import { CombinedChunk } from '../../rows/sources/combine-headers.js';
import type { SourceReading } from '../../rows/source.js';
import type { SheetTable } from '../../xlsx/workbook.js';
import { isXlsxReading } from '../../xlsx/xlsx-reading.js';

interface RouteSinkOptions {
  readonly name: string;
  /** Finished one after the other, in this order. */
  readonly sinks: readonly Sink[];
  readonly decides?: Readonly<Record<string, string>>;
  readonly createRoute: (opening: OpenSinkOptions) => Route;
  readonly readsAddresses?: boolean;
  readonly onRows?: (place: number, rows: number) => void;
}

/** Chooses a row's sink, once. @param first position of its first outcome @returns the sink's position, or -1 */
type Route = (outcomes: Uint32Array, first: number, chunk: RowChunk, row: number) => number;

/** Several outputs in one: every row goes into one of them, or into none. */
export function routeSink(options: RouteSinkOptions): Sink {
  const { name, decides, createRoute, onRows } = options;
  const sinks = options.sinks.map(guardedSink);
  let written = sinks.map(() => 0);
  const bounds = sinks.flatMap(({ maxRows }) => (maxRows === undefined ? [] : [maxRows]));
  return {
    ...ofLibrary,
    name,
    ...(bounds.length > 0 && { maxRows: Math.min(...bounds) }),
    ...(decides && { decides }),
    readsAddresses: options.readsAddresses === true || sinks.some((sink) => sink.readsAddresses),
    // Finished last, listed first.
    outputs: () =>
      sinks
        .map((sink, place) => sink.outputs?.() ?? [{ name: sink.name, rows: written[place] ?? 0 }])
        .toReversed()
        .flat(),
    async check(verifiedColumns) {
      for (const sink of sinks) await sink.check(verifiedColumns);
    },
    hold: (patience) => holdSinks(sinks, patience),
    async validate(reading, columns) {
      const shared = {
        ...columns,
        isNewList: true,
        onTextColumn: reportOnce(columns.onTextColumn),
      };
      const validators = await Promise.all(
        sinks.map(async (sink) => sink.validate?.(reading, shared)),
      );
      const wanted = validators.filter((validate) => validate !== undefined);
      return wanted.length === 0 ? undefined : validateWithAll(wanted);
    },
    async hasWritten(runId) {
      for (const sink of sinks) if ((await sink.hasWritten?.(runId)) === true) return true;
      return false;
    },
    async mayBeginEarly() {
      for (const sink of sinks) if (!(await sink.mayBeginEarly?.())) return false;
      return true;
    },
    async open(given) {
      const onTextColumn = reportOnce(given.onTextColumn);
      const opening = { ...given, isNewList: true, onTextColumn };
      const route = createRoute(opening);
      written = sinks.map(() => 0);
      const writings = await openAll(sinks, opening);
      return {
        async write(joined) {
          for (const stretch of stretches(joined, route)) {
            const rows = stretch.rows.to - stretch.rows.from;
            await writings[stretch.place]?.write(stretch.rows);
            if (stretch.place >= 0) written[stretch.place] = (written[stretch.place] ?? 0) + rows;
            onRows?.(stretch.place, rows);
          }
        },
        async finish() {
          for (const writing of writings) await writing.finish();
        },
        abort: () => dropAll(writings, opening),
      } satisfies SinkWriting;
    },
  };
}

function validateWithAll(validators: readonly RowValidator[]): RowValidator {
  const validate: RowValidator = (chunk) => {
    for (const each of validators) each(chunk);
  };
  return Object.assign(validate, {
    async end() {
      for (const each of validators) await each.end?.();
    },
  });
}

async function openAll(
  sinks: readonly Sink[],
  opening: OpenSinkOptions,
): Promise<readonly SinkWriting[]> {
  const writings: SinkWriting[] = [];
  try {
    for (const sink of sinks) writings.push(await sink.open(opening));
    return writings;
  } catch (error) {
    await dropAll(writings, opening);
    throw error;
  }
}

async function dropAll(
  writings: readonly SinkWriting[],
  { onNotice }: OpenSinkOptions,
): Promise<void> {
  for (const writing of writings) await dropWriting(writing, onNotice);
}

function reportOnce(report: OpenSinkOptions['onTextColumn']): OpenSinkOptions['onTextColumn'] {
  const reported = new Set<string>();
  return (
    report &&
    ((column) => {
      const key = `${column.output} ${column.column}`;
      if (reported.has(key)) return;
      reported.add(key);
      report(column);
    })
  );
}

/** Cuts a stretch where rows go to different sinks. */
function* stretches(
  rows: JoinedRows,
  route: Route,
): Generator<{ readonly place: number; readonly rows: JoinedRows }> {
  const { chunk, from, to, width, outcomes } = rows;
  const placeOf = (row: number): number | undefined =>
    row < to ? route(outcomes, (row - from) * width, chunk, row) : undefined;
  let start = from;
  let place = placeOf(start);
  while (place !== undefined) {
    let end = start + 1;
    let next = placeOf(end);
    while (next === place) {
      end += 1;
      next = placeOf(end);
    }
    const cut = outcomes.subarray((start - from) * width, (end - from) * width);
    yield { place, rows: { ...rows, from: start, to: end, outcomes: cut } };
    start = end;
    place = next;
  }
}

/**
 * An output for the sheets with the first one's header. Those of each other header go into an output beside
 * it (`out-Customers.csv`).
 *
 * @param sinkAt makes the output at a path
 * @param isOne whether there can be only one, such as a pipe. @default false
 */
export function sheetsSink(
  path: string,
  sinkAt: (path: string) => Sink,
  isOne: () => Promise<boolean> = async () => false,
): Sink {
  const base = sinkAt(path);
  /** Validated sinks are written later. */
  const others = new Map<string, Sink>();
  let current = base;
  let hold: ((sink: Sink) => Promise<void>) | undefined;
  const outputFor = async (reading: SourceReading, verified: readonly number[]): Promise<Sink> => {
    current = base;
    const [first, ...tables] = isXlsxReading(reading) ? reading.tables : [];
    if (!first || tables.length === 0 || (await isOne())) return base;
    const all = [first, ...tables];
    const paths = [path, ...pathsBeside(path, tables)];
    for (const beside of paths.slice(1)) {
      if (others.has(beside)) continue;
      const sink = sinkAt(beside);
      await sink.check(verified.length);
      await hold?.(sink);
      others.set(beside, sink);
    }
    const sinks = all.map((table, at) => tableSink(others.get(paths[at] ?? '') ?? base, table));
    // The first is finished last.
    const last = all.length - 1;
    const placeOf = new Map(
      all.flatMap(({ sheets }, at) => sheets.map((name) => [name, last - at] as const)),
    );
    current = routeSink({
      name: base.name,
      sinks: sinks.toReversed(),
      createRoute:
        () =>
        (_outcomes, _first, { sheetName = '' }) =>
          placeOf.get(sheetName) ?? last,
    });
    return current;
  };
  return {
    ...base,
    ...(base.hold && {
      async hold(patience?: LockWait) {
        const releases = [await holdSinks([base], patience)];
        hold = async (sink) => void releases.push(await holdSinks([sink], patience));
        return async () => {
          hold = undefined;
          for (const release of releases) await release();
        };
      },
    }),
    async validate(reading, columns) {
      const output = await outputFor(reading, columns.verified);
      if (output !== base && isXlsxReading(reading)) {
        const names = output.outputs?.()?.map(({ name }) => name) ?? [];
        const sheets = reading.tables.map((table) => table.sheets);
        columns.onNotice?.(notice('sheets_apart', { outputs: names, sheets }));
      }
      return output.validate?.(reading, columns);
    },
    open: async (opening) => (await outputFor(opening.reading, opening.verified)).open(opening),
    outputs: () => current.outputs?.(),
  };
}

function tableSink(sink: Sink, { sheets, header, columns }: SheetTable): Sink {
  const narrowedColumns = (verified: readonly number[]): readonly number[] =>
    verified.map((position) => columns.indexOf(position));
  const narrowed = (chunk: RowChunk): RowChunk =>
    new CombinedChunk(chunk, columns, { isRenamed: true });
  return {
    ...sink,
    async validate(reading, given) {
      const validator = await sink.validate?.(withMembers(reading, { header }), {
        ...given,
        verified: narrowedColumns(given.verified),
      });
      const validateTable = (chunk: RowChunk): void => {
        if (sheets.includes(chunk.sheetName ?? '')) validator?.(narrowed(chunk));
      };
      return validator && Object.assign(validateTable, { end: async () => validator.end?.() });
    },
    async open(opening) {
      const reading = withMembers(opening.reading, { header });
      const writing = await sink.open({
        ...opening,
        reading,
        verified: narrowedColumns(opening.verified),
      });
      return withMembers(writing, {
        write: async (rows) => writing.write({ ...rows, chunk: narrowed(rows.chunk) }),
      });
    },
  };
}

/** `out.csv` becomes `out-Customers.csv`, and a folder `out/` `out-Customers/`. */
function pathsBeside(path: string, tables: readonly SheetTable[]): readonly string[] {
  const [, before = '', after = ''] = /^((?:.*\/)?.[^./]*)([^/]*\/*)$/s.exec(path) ?? [];
  const taken = new Set<string>();
  return tables.map(({ sheets: [sheet = ''] }) => {
    const name = inFileName(sheet);
    let unique = name;
    // Two names may differ only in other signs.
    for (let next = 2; taken.has(unique.toLowerCase()); next += 1) unique = `${name}-${next}`;
    taken.add(unique.toLowerCase());
    return `${before}-${unique}${after}`;
  });
}
