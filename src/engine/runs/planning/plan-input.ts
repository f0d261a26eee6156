import type { RowValidator, Sink } from '../../../lists/rows/sink.js';
import type { FoundHeader, Source, SourceReading } from '../../../lists/rows/source.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { Batch } from '../../batches/batch.js';
import {
  type ColumnLayout,
  type ColumnOptions,
  layOutColumns,
} from '../../columns/column-layout.js';
import { hintPositions, withListHints } from '../../columns/list-hints.js';
import { sampleCells } from '../../columns/sample-cells.js';
import { Plan, readCountry } from '../../plan/plan.js';
import type { Suppressed } from '../../plan/suppressed.js';
import type { PlanEntry } from '../../stores/journal-entries.js';
import type { RunScratch } from '../../stores/scratch.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { RunProgress } from '../reporting/run-progress.js';
import { DiskStorage } from './batch-files.js';
import { ExternalDedupPlan } from './external-dedup-plan.js';
import type { OpenRecall } from './recalled-results.js';
import { validateUnsplit } from './split-cells.js';
import { TicketFile } from './ticket-file.js';
import { notice } from '../../../platform/text/notices.js';
import { noticed } from '../reporting/run-progress.js';

export interface PlannedInput {
  /** The source for the second reading. */
  readonly source: Source;
  readonly plan: Plan;
  readonly tickets: TicketFile;
  readonly batches: readonly Batch[];
  readonly entry: PlanEntry;
}

/** The options of a run, and the input of one reading of its list. */
export interface PlanInputOptions extends Omit<ResolvedRun, 'client'> {
  /** Repeatable. */
  readonly source: Source;
  /** Whether the list was read before: its notices are given once. @default false */
  readonly isAgain?: boolean;
  readonly seed: Uint8Array;
  /** Results of earlier runs, under the same seed; closed at the end. @default none */
  readonly recalled?: OpenRecall | undefined;
  readonly runId: string;
  readonly scratch: RunScratch;
  /** The plan of an earlier reading: complete files of its batches stay. */
  readonly planned: PlanEntry | undefined;
}

/**
 * Reads the source once: unique addresses become batches on disk, rows become tickets. Nothing is sent. The
 * same rows always make the same batches, so a resumed run reads again.
 *
 * @throws InputError, OutputError, ConfigurationError `column_not_found`, `column_exists`
 */
export async function readIntoBatches(options: PlanInputOptions): Promise<PlannedInput> {
  const { scratch, files, recalled } = options;
  try {
    const tickets = await TicketFile.create(files, scratch.ticketsPath);
    try {
      return await readAll(options, tickets);
    } finally {
      await tickets.close();
    }
  } finally {
    await recalled?.close();
  }
}

async function readAll(options: PlanInputOptions, tickets: TicketFile): Promise<PlannedInput> {
  const { source, scratch, files, recalled, isAgain = false } = options;
  const found: FoundHeader[] = [];
  const onProgress = isAgain ? undefined : options.onProgress;
  const { reading, layout } = await openList(source, {
    ...options,
    onProgress,
    onHeaderFound: (header) => found.push(header),
  });
  const storage = new DiskStorage(files, scratch.batchesPath);
  // The files identify what was launched until the source is known to be the same.
  await storage.keepWhole(options.planned?.batches.map(({ checksum }) => checksum) ?? []);
  const plan = new Plan({
    ...options,
    layout,
    storage,
    recall: recalled && ((outcomes) => recalled.recall(outcomes)),
  });
  const batches: Batch[] = [];
  const validate = await startValidating({ ...options, onProgress }, reading, layout);
  const rows = await planAll(reading, { ...options, plan, storage, tickets, batches, validate });
  const entry = planEntryOf(rows, { reading, found }, batches);
  const noted = await recalled?.finish();
  return { source, plan, tickets, batches, entry: noted ? { ...entry, recalled: noted } : entry };
}

export async function openList(
  source: Source,
  {
    signal,
    onProgress,
    onHeaderFound,
    suppressed,
    ...options
  }: ColumnOptions & {
    readonly country?: string | undefined;
    readonly suppressed: Suppressed | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: RunProgress) => void) | undefined;
    readonly onHeaderFound?: (found: FoundHeader) => void;
  },
): Promise<{ readonly reading: SourceReading; readonly layout: ColumnLayout }> {
  let layout: ColumnLayout | undefined;
  const hasOwnCountries = (options.countryColumn ?? options.countryFrom) !== undefined;
  const hasPhones = (options.phone ?? []).length > 0;
  const hints = {
    // Anyone who suppresses addresses knows who has opted out.
    seeksOptOuts: suppressed === undefined,
    phonesOf: hasPhones && !hasOwnCountries ? readCountry(options.country) : undefined,
  };
  const reading = await source.open({
    ...(signal && { signal }),
    onHeaderFound(found) {
      onHeaderFound?.(found);
      onProgress?.({ stage: 'header_found', ...found });
    },
    ...(onProgress && {
      onFooterFound: (found) => onProgress({ stage: 'footer_found', ...found }),
      onNotice: (given) => onProgress(noticed(given)),
    }),
    wanted: (header) => {
      layout = layOutColumns(header, options);
      const read = onProgress ? hintPositions(header, hints) : [];
      return [...new Set([...wantedPositions(layout), ...read])];
    },
    needed: (header) => wantedPositions(layOutColumns(header, options)),
  });
  const damaged = reading.header.filter((name) => name.includes('\ufffd'));
  if (damaged.length > 0) onProgress?.(noticed(notice('damaged_names', { columns: damaged })));
  return {
    reading: onProgress
      ? withListHints(reading, hints, (found) => onProgress(noticed(found)))
      : reading,
    layout: layout ?? layOutColumns(reading.header, options),
  };
}

async function planAll(
  reading: SourceReading,
  to: PlanInputOptions & {
    readonly plan: Plan;
    readonly storage: DiskStorage;
    readonly tickets: TicketFile;
    readonly batches: Batch[];
    readonly validate: RowValidator | undefined;
  },
): Promise<number> {
  const { planner, cutter, book } = to.plan;
  const { partitionFrom = manyAddresses, sink, onProgress } = to;
  const { maxRows = Infinity } = sink;
  const onRows = (): void => onProgress?.({ stage: 'reading', rows, addresses: book.size });
  let rows = 0;
  const write = async (tickets: Uint32Array): Promise<void> => {
    await to.tickets.append(tickets);
    await to.storage.flush();
    await to.recalled?.flush();
  };
  let partitioned: ExternalDedupPlan | undefined;
  // A chunk is written while the next is planned.
  let underway = Promise.resolve();
  try {
    for await (const chunk of reading.chunks) {
      if (rows + chunk.length > maxRows) throw tooManyRows(maxRows);
      validateUnsplit(chunk, to.validate);
      if (!partitioned && book.size >= partitionFrom) {
        await underway;
        partitioned = await ExternalDedupPlan.begin(to, to.plan);
      }
      const tickets = planner.plan(chunk, 0);
      await underway;
      underway = partitioned ? partitioned.append(tickets) : write(tickets);
      // The next await throws its failure.
      underway.catch(() => undefined);
      for (const batch of cutter.take()) to.batches.push(batch);
      rows += chunk.length;
      onRows();
    }
    await underway;
    await to.validate?.end?.();
    await partitioned?.number(async (tickets) => {
      await write(tickets);
      for (const batch of cutter.take()) to.batches.push(batch);
      onRows();
    });
  } finally {
    // Its files are about to be closed.
    await underway.catch(() => undefined);
    await partitioned?.remove();
  }
  cutter.closeAll();
  await to.storage.flush();
  await to.storage.makeSafe();
  for (const batch of cutter.take()) to.batches.push(batch);
  to.batches.sort((a, b) => a.id - b.id);
  return rows;
}

function tooManyRows(most: number): ConfigurationError {
  return new ConfigurationError(
    `the input has more than the ${most} rows that the output can hold: choose another format for it`,
  );
}

/** Ends the run before anything is paid where the output has no form for the rows. */
export async function startValidating(
  {
    sink,
    runId,
    onProgress,
    signal,
  }: {
    readonly sink: Sink;
    readonly runId?: string;
    readonly onProgress?: ((progress: RunProgress) => void) | undefined;
    readonly signal: AbortSignal;
  },
  reading: SourceReading,
  layout: ColumnLayout,
): Promise<RowValidator | undefined> {
  try {
    return await sink.validate?.(reading, {
      ...(runId !== undefined && { runId }),
      ...(onProgress && {
        onNotice: (given) => onProgress(noticed(given)),
        onTextColumn: (column) => onProgress({ stage: 'text_column', ...column }),
      }),
      signal,
      verified: layout.columns.map(({ position }) => position),
      added: layout.added,
      samples: layout.columns.map(({ type }, column) =>
        sampleCells(type, layout.added[column] ?? []),
      ),
    });
  } catch (error) {
    await closeReading(reading);
    throw error;
  }
}

export function planEntryOf(
  rows: number,
  { reading, found }: { readonly reading: SourceReading; readonly found: readonly FoundHeader[] },
  batches: readonly Batch[],
): PlanEntry {
  return {
    entry: 'plan',
    rows,
    content: reading.contentDigest?.() ?? null,
    ...(found.length > 0 && { headers: found.map(({ number }) => number) }),
    batches: batches.map(({ group, addresses, checksum }) => ({
      type: group.type,
      country: group.country,
      addresses,
      checksum,
    })),
  };
}

export function wantedPositions(layout: ColumnLayout): readonly number[] {
  const positions = new Set(layout.columns.map((column) => column.position));
  for (const position of [layout.countryPosition, layout.countryFromPosition]) {
    if (position !== undefined) positions.add(position);
  }
  return [...positions];
}

/**
 * From this number of addresses on a list is numbered by partitions. Below it, one table of some 20 bytes an
 * address is small, and batches are written while the list is read.
 */
export const manyAddresses = 2 ** 22;

/** Closes a reading whose rows are not needed. */
export async function closeReading(reading: SourceReading): Promise<void> {
  await reading.chunks[Symbol.asyncIterator]().return?.();
}
