import type { RowValidator } from '../../../lists/rows/sink.js';
import type { FoundHeader, Source, SourceReading } from '../../../lists/rows/source.js';
import { ConfigurationError, InputError } from '../../../platform/errors/errors.js';
import type { Batch } from '../../batches/batch.js';
import { Plan } from '../../plan/plan.js';
import { outputIdOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import type { RunScratch } from '../../stores/scratch.js';
import type { ResolvedRun, ComparedRun } from '../options/run-options.js';
import { DiskStorage } from './batch-files.js';
import { ExternalDedupPlan } from './external-dedup-plan.js';
import { type OpenRecall, openRecall, type RecallOptions } from './recalled-results.js';
import { validateUnsplit } from './split-cells.js';
import { TicketFile } from './ticket-file.js';
import { openList, startValidating, planEntryOf } from './open-list.js';
import { optionName } from '../../../platform/text/sentence.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';

export interface PlannedInput {
  /** The source for the second reading. */
  readonly source: Source;
  readonly plan: Plan;
  readonly tickets: TicketFile;
  readonly batches: readonly Batch[];
  readonly entry: PlanEntry;
}

/** The options of a run, and the input of one reading of its list. */
export interface PlanInputOptions
  extends Omit<ResolvedRun, 'client'>, Pick<RecallOptions, 'state' | 'carried' | 'onMissing'> {
  /** Repeatable. */
  readonly source: Source;
  /** Whether the list was read before: its notices are given once. @default false */
  readonly isAgain?: boolean;
  readonly entry: RunEntry;
  /** Where an earlier reading was planned, complete files of its batches stay. */
  readonly scratch: RunScratch;
}

interface Reading extends PlanInputOptions {
  readonly tickets: TicketFile;
  readonly seed: Uint8Array;
  readonly recalled: OpenRecall | undefined;
}

/**
 * Reads the source once: unique addresses become batches on disk, rows become tickets. Nothing is sent. The
 * same rows always make the same batches, so a resumed run reads again.
 *
 * @throws InputError, OutputError, ConfigurationError `column_not_found`, `column_exists`
 */
export async function readIntoBatches(options: PlanInputOptions): Promise<PlannedInput> {
  const { scratch, files, entry } = options;
  const { recalledPath } = scratch;
  const seed = Buffer.from(entry.seed, 'hex');
  const recalled = await openRecall({ ...options, seed, recalledPath });
  try {
    const tickets = await TicketFile.create(files, scratch.ticketsPath);
    try {
      return await readAll({ ...options, tickets, seed, recalled });
    } finally {
      await tickets.close();
    }
  } finally {
    await recalled?.close();
  }
}

async function readAll(options: Reading): Promise<PlannedInput> {
  const { source, state, scratch, files, tickets, recalled, isAgain = false } = options;
  const found: FoundHeader[] = [];
  const onProgress = isAgain ? undefined : options.onProgress;
  const { reading, layout } = await openList(source, {
    ...options,
    onProgress,
    onHeaderFound: (header) => found.push(header),
    isSent: (...cell) => plan.planner.cells.lineOf(...cell) !== undefined,
  });
  const storage = new DiskStorage(files, scratch.batchesPath);
  // The files identify what was launched until the source is known to be the same.
  await storage.keepWhole(state.plan?.batches.map(({ checksum }) => checksum) ?? []);
  const plan = new Plan({
    ...options,
    layout,
    storage,
    recall: recalled && ((outcomes) => recalled.recall(outcomes)),
  });
  const batches: Batch[] = [];
  const runId = outputIdOf(options.entry);
  const validate = await startValidating({ ...options, onProgress, runId }, reading, layout);
  const rows = await planAll(reading, { ...options, plan, storage, batches, validate });
  const entry = planEntryOf(rows, { reading, found }, batches);
  const noted = await recalled?.finish();
  return { source, plan, tickets, batches, entry: noted ? { ...entry, recalled: noted } : entry };
}

async function planAll(
  reading: SourceReading,
  to: Reading & {
    readonly plan: Plan;
    readonly storage: DiskStorage;
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
    `the input has more than the ${counted(most, 'row')} that the output can hold: choose another format for it`,
    { fault: 'too_large' },
  );
}

/**
 * From this number of addresses on a list is numbered by partitions. Below it, one table of some 20 bytes an
 * address is small, and batches are written while the list is read.
 */
export const manyAddresses = 2 ** 22;

/**
 * Refuses a list with too few rows: a truncated export must not replace a good output. Compared with the last
 * run that had rows, so one empty night does not excuse the next.
 */
export async function checkListSize(run: ComparedRun, rows: number): Promise<void> {
  const why = await whyTooFew(run, rows);
  if (why !== undefined) {
    throw suspect(`${run.source.name} has ${counted(rows, 'row')}, and ${why}`);
  }
}

/** Reads a list. Without even a header it has no rows: too few, where a minimum is given. */
export async function readSized(options: PlanInputOptions): Promise<PlannedInput> {
  try {
    return await readIntoBatches(options);
  } catch (error) {
    const isEmpty = error instanceof InputError && error.fault === 'empty';
    const why = isEmpty ? await whyTooFew(options, 0) : undefined;
    throw why === undefined ? error : suspect(`${(error as InputError).message}; ${why}`);
  }
}

/** @returns `undefined` where it has enough, or is a trial */
export async function whyTooFew(
  { source, limit, minRows = 0, maxShrink, rowsBefore, history }: ComparedRun,
  rows: number,
): Promise<string | undefined> {
  if (limit !== undefined) return undefined;
  if (rows < minRows) return `${optionName('minRows')} is ${grouped(minRows)}`;
  if (maxShrink === undefined) return undefined;
  const inHistory = history?.rowsBefore(source);
  const before = inHistory ?? (await rowsBefore?.());
  if (before === undefined || rows * 100 >= before * (100 - maxShrink)) return undefined;
  const shrink = Math.floor((100 * (before - rows)) / before);
  const had = inHistory === undefined ? 'the last output has' : 'the run before had';
  return `${had} ${grouped(before)}: that is ${shrink} % fewer, and ${optionName('maxShrink')} allows ${maxShrink} % (if it is right, leave that option out once)`;
}

function suspect(what: string): InputError {
  return new InputError(`${what}. Nothing was sent, paid or written`, {
    code: 'input_suspect',
  });
}
