import {
  holdSinks,
  type JoinedRows,
  type OpenSinkOptions,
  type RowValidator,
  type Sink,
  type SinkWriting,
} from '../../rows/sink.js';
import type { RowChunk } from '../../rows/chunks/row-chunk.js';
import { dropWriting, guardedSink, ofLibrary } from '../../rows/guarded-ends.js';

interface RouteSinkOptions {
  /** Their common name in messages. */
  readonly name: string;
  /** Finished one after the other, in this order. */
  readonly sinks: readonly Sink[];
  readonly decides?: Readonly<Record<string, string>>;
  /** Chooses a sink for each row of one writing. */
  readonly createRoute: (opening: OpenSinkOptions) => Route;
  readonly readsAddresses?: boolean;
  /** Called with the number of rows for a sink. */
  readonly onRows?: (place: number, rows: number) => void;
}

/**
 * Chooses the sink of a row; called once for each.
 *
 * @param first position of its first outcome
 * @returns the sink's position; -1 for none
 */
export type Route = (outcomes: Uint32Array, first: number, chunk: RowChunk, row: number) => number;

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

/** Opens all sinks, or none. */
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

/** Reports a column once where several outputs make it text. */
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
