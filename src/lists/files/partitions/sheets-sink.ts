import { notice } from '../../../platform/text/notices.js';
import { inFileName } from '../../../platform/text/printable.js';
import { CombinedChunk } from '../../rows/sources/combine-headers.js';
import { withMembers } from '../../rows/guarded-ends.js';
import { holdSinks, type LockWait, type Sink } from '../../rows/sink.js';
import type { SourceReading } from '../../rows/source.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import type { SheetTable } from '../../xlsx/workbook.js';
import { isXlsxReading } from '../../xlsx/xlsx-reading.js';
import { routeSink } from './partition-sink.js';

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
  /** The outputs for one reading. */
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

/** The rows of one table, with its own columns. */
function tableSink(sink: Sink, { sheets, header, columns }: SheetTable): Sink {
  const own = (verified: readonly number[]): readonly number[] =>
    verified.map((position) => columns.indexOf(position));
  const narrowed = (chunk: RowChunk): RowChunk => new CombinedChunk(chunk, columns, true);
  return {
    ...sink,
    async validate(reading, given) {
      const validator = await sink.validate?.(withMembers(reading, { header }), {
        ...given,
        verified: own(given.verified),
      });
      const validateOwn = (chunk: RowChunk): void => {
        if (sheets.includes(chunk.sheetName ?? '')) validator?.(narrowed(chunk));
      };
      return validator && Object.assign(validateOwn, { end: async () => validator.end?.() });
    },
    async open(opening) {
      const reading = withMembers(opening.reading, { header });
      const writing = await sink.open({ ...opening, reading, verified: own(opening.verified) });
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
    let own = name;
    // Two names may differ only in other signs.
    for (let next = 2; taken.has(own.toLowerCase()); next += 1) own = `${name}-${next}`;
    taken.add(own.toLowerCase());
    return `${before}-${own}${after}`;
  });
}
