import type { VerificationService } from '../../client/client.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { AddressTable } from '../../platform/hashing/address-table.js';
import { systemClock } from '../../platform/waiting/clock.js';
import { groupNumber } from '../addresses/address.js';
import { type BatchState, isAtEnd } from '../batches/batch-state.js';
import { type Batch, parseBatchName, uuidKey } from '../batches/batch.js';
import { LocalClaims } from '../batches/claim.js';
import { tallyOf, type CollectedExport } from '../batches/export-check.js';
import type { Charge } from '../batches/status-answer.js';
import { deleteBatch, deleteListed } from '../batches/uploads/delete-uploads.js';
import { lineHashes } from '../plan/line-hashes.js';
import { type LaunchedBatch, notLaunched, type ResultHistory } from '../plan/result-cache.js';
import { candidatesBy, type ExportOpener } from '../plan/result-join.js';
import { matchExport, type MatchedExport } from '../results/match-export.js';
import { OutcomeTable } from '../results/outcome-table.js';
import { BatchPool } from './batch-pool.js';
import { graceMs } from './batch-requests.js';
import { defaults, type DriveSettings } from './driver-options.js';

/** Why the results of a launched batch are given up: it failed, is gone from the service, takes longer than it may. */
export type WhyLost = 'failed' | 'gone' | 'late';

/** How long a run's launch stays noted that is not there under the key of another run. */
const longestKeptMs = 30 * 24 * 3_600_000;

interface CollectOptions extends DriveSettings {
  readonly history: ResultHistory;
  readonly service: VerificationService;
  readonly signal: AbortSignal;
  /** Which launched batches. @default all */
  readonly isWanted?: (batch: LaunchedBatch) => boolean;
  /** Called with the number of batches that are waited for, where there are some. */
  readonly onFound?: (batches: number) => void;
  /** Whether a run's batch may be given up at its deadline, so that it holds up no other list. @default all */
  readonly mayBeLate?: (batch: LaunchedBatch) => boolean;
  /** Called for each batch of a run whose results are given up. */
  readonly onLost?: (batch: LaunchedBatch, why: WhyLost) => void;
  /** Called with the names of uploads that may be left. */
  readonly onLeftBehind?: ((names: readonly string[]) => void) | undefined;
}

/**
 * Waits for batches that an earlier stream or run has launched and left, and has the history keep their
 * results: they are paid for. Nothing is launched: what such a stream has only uploaded is deleted, what such a
 * run has, is its own.
 *
 * @param owner who waits for them from now on, until the history releases it
 * @returns `undefined` where nothing was left
 */
export function collectLaunched(owner: object, options: CollectOptions): Promise<void> | undefined {
  const { history, isWanted, onFound } = options;
  const launched = history.takeLaunched(owner, isWanted);
  const streams = history.takeUploads(owner);
  if (launched.length > 0) onFound?.(launched.length);
  return launched.length + streams.length === 0 ? undefined : collect(launched, streams, options);
}

/** @param streams ids of those whose uploads are to be deleted, too */
async function collect(
  launched: readonly LaunchedBatch[],
  streams: readonly string[],
  options: CollectOptions,
): Promise<void> {
  const ofStreams = new Set(launched.filter(({ run }) => run === undefined));
  const ofRuns = new Set(launched.filter((batch) => !ofStreams.has(batch)));
  await collectAll(ofStreams, options);
  await collectAll(ofRuns, options);
  if (streams.length > 0) await deleteUploads(streams, launched, options);
}

async function deleteUploads(
  streams: readonly string[],
  launched: readonly LaunchedBatch[],
  { history, service, signal, clock = systemClock, batchDeadlineMs, onLeftBehind }: CollectOptions,
): Promise<void> {
  const collected = new Set(launched.map(({ batchUuid }) => uuidKey(batchUuid)));
  const isOfStream = (name: string): boolean =>
    streams.some((id) => parseBatchName(name, id) !== undefined);
  const isUnwanted = ({ name, batch_uuid: uuid }: { name: string; batch_uuid: string }): boolean =>
    isOfStream(name) && !collected.has(uuidKey(uuid));
  const deadlineMs = batchDeadlineMs ?? defaults.batchDeadlineMs;
  try {
    const { left } = await deleteListed(service, isUnwanted, { signal, clock, deadlineMs });
    if (left.length > 0) {
      // It may be parsing one, which can be deleted next time.
      onLeftBehind?.(left);
      return;
    }
  } catch (error) {
    signal.throwIfAborted();
    // The list could not be read: the next stream looks again.
    if (isSluiceError(error)) return;
    throw error;
  }
  for (const id of streams) await history.dropLaunch(id);
}

/**
 * A run's launch that has not arrived is looked at once more: a process that was killed a moment ago may have sent
 * it, if not for the first time.
 */
async function collectAll(waiting: Set<LaunchedBatch>, options: CollectOptions): Promise<void> {
  const { clock = systemClock, signal } = options;
  await collectOnce(waiting, options, false);
  if (waiting.size === 0) return;
  await clock.sleep(graceMs, signal);
  await collectOnce(waiting, options, true);
}

/** @param waiting each is taken out once it has ended; in the last look whatever its state is */
async function collectOnce(
  waiting: Set<LaunchedBatch>,
  options: CollectOptions,
  isLast: boolean,
): Promise<void> {
  if (waiting.size === 0) return;
  const { history, service, signal, onLost, mayBeLate, ...settings } = options;
  const { clock = systemClock } = settings;
  const launched = [...waiting];
  const of = ({ id }: Batch): LaunchedBatch => launched[id] as LaunchedBatch;
  const claims = new LocalClaims();
  const charges = new Map<Batch, Charge | undefined>();
  const drive = new BatchPool(
    // All are on the service already: one that is stuck takes no other's place.
    { service, runId: 'left', settings, places: launched.length, signal },
    {
      state: (batch) => leftAt(of(batch).batchUuid),
      claim: (batch) =>
        claims.claim(batch, leftAt(of(batch).batchUuid), ({ charge }) => {
          charges.set(batch, charge);
        }),
      collect: async (batch, open) =>
        readLaunched(of(batch), { open, history, charge: () => charges.get(batch) }),
      overdue: (batch) => {
        const left = of(batch);
        // A batch of another list that is stuck does not keep this one from its turn.
        if (left.run === undefined || mayBeLate?.(left) === false) return false;
        waiting.delete(left);
        onLost?.(left, 'late');
        return true;
      },
      leave: async (batch, state) => {
        const left = of(batch);
        const { batchUuid, run, launchedAtMs } = left;
        if (!isLast && run !== undefined && !isAtEnd(state)) return;
        waiting.delete(left);
        if (state.stage === 'exported') return;
        if (state.stage === 'failed' && run !== undefined) {
          const isGone = state.reason === 'batch_missing';
          onLost?.(left, isGone ? 'gone' : 'failed');
          // It may be another account's, which has its results.
          if (isGone && clock.wallNow() - launchedAtMs < longestKeptMs) return;
        }
        const isDeleted = state.stage !== 'failed' && run === undefined;
        const end = isDeleted ? await deleteBatch(service, batchUuid, { signal }) : 'gone';
        const { group, addresses } = left;
        const cost = { type: group.type, addresses, charge: charges.get(batch) };
        if (end !== 'launched') await history.dropLaunch(batchUuid, isDeleted ? notLaunched : cost);
      },
    },
  );
  drive.gate.hold();
  const batches = launched.map(({ batchUuid, group, addresses }, id): Batch => {
    // Only the hashes of its lines are known.
    const batch = { id, group, addresses, sizeBytes: 0, checksum: 0, open: () => [] };
    drive.recall(batch, leftAt(batchUuid), batchUuid);
    return batch;
  });
  drive.add(batches);
  const stopped = await drive.idle();
  if (stopped) throw stopped.error;
}

function leftAt(uuid: string): BatchState {
  const tries = { attempt: 1, fresh: 0, uploads: 0, misses: 0, prepares: 0, launches: 0 };
  return { stage: 'launching', uuid, isFound: false, ...tries, answeredError: false, doubt: true };
}

async function readLaunched(
  launched: LaunchedBatch,
  {
    open,
    history,
    charge,
  }: {
    readonly open: ExportOpener;
    readonly history: ResultHistory;
    readonly charge: () => Charge | undefined;
  },
): Promise<CollectedExport> {
  const { group } = launched;
  const outcomes = new OutcomeTable();
  const table = new AddressTable({ seed: history.seed });
  for (const hash of launched.hashes()) table.addHashed(hash);
  const addresses = {
    candidates: candidatesBy(group, (key) => table.find(groupNumber(group), key)),
    linesOf: async () => new Map<number, string>(),
  };
  const matched = await matchExport(open, addresses, { type: group.type, outcomes });
  const keep = async (): Promise<void> => {
    const found = outcomesOf(matched, launched, outcomes);
    await history.keepLaunched(launched, {
      charge: charge(),
      outcomes,
      outcomeOf: (index) => found[index],
    });
  };
  return { ...tallyOf(matched), keep };
}

/** By address: its outcome, where that is sure without its line. */
function outcomesOf(
  matched: MatchedExport,
  { addresses }: LaunchedBatch,
  outcomes: OutcomeTable,
): readonly (number | undefined)[] {
  const { named } = tallyOf(matched);
  // An export with few records may be right, or be requested again.
  const rest =
    named * 2 < addresses || matched.ambiguous > 0
      ? undefined
      : outcomes.idOf('no_result', 'no_record');
  const found = Array.from({ length: addresses }, () => rest);
  for (const [place, number] of matched.numbers.entries()) found[number] = matched.outcomes[place];
  return found;
}

interface NotedStream extends DriveSettings {
  readonly client: VerificationService;
  readonly history?: ResultHistory | undefined;
  readonly onLeftBehind?: ((names: readonly string[]) => void) | undefined;
}

/** A stream's launches in a history: the next stream with it collects first what this one, or a kill, leaves behind. */
export class LaunchNotes {
  readonly #options: NotedStream;
  readonly #stop = new AbortController();
  #isLookedFor = false;
  #noted: Promise<void> | undefined;

  constructor(options: NotedStream) {
    this.#options = options;
  }

  /** Collects what was left; `undefined` where there is nothing, or once it is done. */
  collect(): Promise<void> | undefined {
    if (this.#isLookedFor) return undefined;
    this.#isLookedFor = true;
    const { history, client: service, ...settings } = this.#options;
    if (!history) return undefined;
    const { signal } = this.#stop;
    const collect = () => collectLaunched(this, { ...settings, history, service, signal });
    return history.noteStopped?.(service, { ...settings, signal })?.then(collect) ?? collect();
  }

  /** Awaited before each upload. */
  async noteUploads(runId: string): Promise<void> {
    this.#noted ??= this.#options.history?.noteUploads(runId, this);
    await this.#noted;
  }

  /** Every unlaunched upload is deleted or named. */
  async dropUploads(runId: string): Promise<void> {
    if (this.#noted) await this.#options.history?.dropLaunch(runId);
  }

  /** Awaited before each launch. */
  async note(batch: Batch, batchUuid: string): Promise<void> {
    await noteLaunch(batch, { batchUuid, history: this.#options.history, owner: this });
  }

  /** Unfinished batches are left to the next stream. */
  leave(reason: unknown): void {
    this.#stop.abort(reason);
    this.#options.history?.release(this);
  }
}

export async function noteLaunch(
  batch: Batch,
  {
    batchUuid,
    history,
    owner,
    run,
  }: {
    readonly batchUuid: string;
    readonly history: ResultHistory | undefined;
    readonly owner: object;
    /** The state directory of a run that can resume. */
    readonly run?: string | undefined;
  },
): Promise<void> {
  if (!history) return;
  const { group } = batch;
  const hashes = lineHashes(batch, history.seed);
  await history.noteLaunch({ batchUuid, group, hashes, run }, owner);
}
