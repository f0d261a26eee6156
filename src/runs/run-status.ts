import { isAtEnd, mayHaveLaunched, type KnownBatch } from '../batches/known-batch.js';
import type { VerificationType } from '../contract/enums.js';
import { ConfigurationError } from '../errors/family.js';
import { systemFiles, type FileSystem } from '../system/file-system.js';
import { addressesOf, type KnownRun } from './known-run.js';
import type { SharedStore } from './run-store.js';
import { readKnownRun } from './state-directory.js';

/** What a state directory, or a store that processes share, says of its run. */
export interface RunStatus {
  /** Its path, or what the store is called. */
  readonly stateDir: string;
  readonly input: string;
  readonly output: string;
  /** The service's base URL, or `local`. */
  readonly service: string;
  readonly startedAt: string;
  /** `null` while the input was not read to its end. */
  readonly rows: number | null;
  /** Where one was too large for the service, its parts are counted in its place. */
  readonly batches: number;
  /** Batches at their end: their results are on disk, or they failed. */
  readonly done: number;
  /** Batches that may have been launched, and whose results are not here yet. */
  readonly running: number;
  /** Batches that are known to be on the service. */
  readonly uploads: number;
  /** Batches that something was sent of, by stage. */
  readonly stages: Readonly<Record<string, number>>;
  /** Credits of the batches that may have been launched, before refunds. */
  readonly launchedCredits: Readonly<Record<VerificationType, number>>;
  /** Credits that the batches which were not launched need at most. */
  readonly openCredits: Readonly<Record<VerificationType, number>>;
  readonly isFinished: boolean;
}

/**
 * Reads what a state directory, or a store that processes share, says, also while a run works in it.
 *
 * @throws OutputError, StateError; ConfigurationError when there is no run
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * console.log(status ? describeStatus(status).soFar : 'no run is unfinished'); // no run is unfinished
 * ```
 */
export async function readRunStatus(
  stateDir: string | SharedStore,
  files: FileSystem = systemFiles,
): Promise<RunStatus> {
  if (typeof stateDir !== 'string') return readStoreStatus(stateDir);
  return statusOf(await readKnownRun(files, stateDir), stateDir);
}

async function readStoreStatus(store: SharedStore): Promise<RunStatus> {
  const state = await store.open({ signal: new AbortController().signal });
  try {
    return statusOf(state.known, store.name);
  } finally {
    await state.close();
  }
}

/** The same of a journal that was read. @throws ConfigurationError when there is no run */
export function statusOf(known: KnownRun, stateDir: string): RunStatus {
  const { run, plan } = known;
  if (!run) throw new ConfigurationError(`there is no run in ${stateDir}`);
  const batches = [...known.batches.values()].map((entry) => entry.known);
  const planned = { email: 0, phone: 0 };
  for (const { type, addresses } of plan?.batches ?? []) planned[kindOf(type)] += addresses;
  const closed = creditsOf(known, (batch) => mayHaveLaunched(batch) || isAtEnd(batch));
  return {
    stateDir,
    input: textOf(run.decides['input']),
    output: textOf(run.decides['output']),
    service: run.service,
    startedAt: run.startedAt,
    rows: plan?.rows ?? null,
    // Each that was split makes room for two.
    batches: (plan?.batches.length ?? 0) + splits(known),
    done: batches.filter(isAtEnd).length,
    running: batches.filter((batch) => mayHaveLaunched(batch) && !isAtEnd(batch)).length,
    uploads: uploads(known),
    stages: stagesOf(known),
    launchedCredits: creditsOf(known, mayHaveLaunched),
    openCredits: { email: planned.email - closed.email, phone: planned.phone - closed.phone },
    isFinished: known.finished !== undefined,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function uploads({ batches }: KnownRun): number {
  return [...batches.values()].filter(({ known }) => 'uuid' in known && known.uuid !== undefined)
    .length;
}

function stagesOf(known: KnownRun): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { known: batch } of known.batches.values()) {
    if (batch.stage === 'split') continue;
    counts.set(batch.stage, (counts.get(batch.stage) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function splits({ batches }: KnownRun): number {
  return [...batches.values()].filter(({ known }) => known.stage === 'split').length;
}

function creditsOf(
  known: KnownRun,
  isMeant: (batch: KnownBatch) => boolean,
): Record<VerificationType, number> {
  const credits = { email: 0, phone: 0 };
  for (const entry of known.batches.values()) {
    const planned = known.plan?.batches[entry.batch];
    if (!planned || entry.known.stage === 'split' || !isMeant(entry.known)) continue;
    credits[kindOf(planned.type)] += addressesOf(known, entry);
  }
  return credits;
}

function kindOf(type: string): VerificationType {
  return type === 'email' ? 'email' : 'phone';
}
