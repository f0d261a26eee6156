import { type Batch, readLines, parseBatchName, uuidKey } from '../batches/batch.js';
import { addressOf, candidatesBy, type ExportOpener } from '../plan/result-join.js';
import type { VerifySettings } from './stream-options.js';
import { AddressTable } from '../../platform/hashing/address-table.js';
import { groupNumber } from '../addresses/address.js';
import type { VerificationService } from '../../client/client.js';
import { matchExport, type MatchedExport } from '../results/match-export.js';
import { OutcomeTable } from '../results/outcome-table.js';
import type { LaunchedBatch, ResultHistory } from '../plan/result-cache.js';
import { tallyOf } from '../batches/export-check.js';
import type { BatchState } from '../batches/batch-state.js';
import { deleteBatch, deleteListed } from '../batches/uploads/delete-uploads.js';
import { BatchPool } from '../driver/batch-pool.js';
import { type CollectedExport, defaults, type DriveSettings } from '../driver/driver-options.js';
import { LocalClaims } from '../batches/claim.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { systemClock } from '../../platform/waiting/clock.js';

/**
 * What a history knows of the launches of a stream: what one leaves behind, or a kill does, the next with
 * that history collects before it sends anything.
 */
export class LaunchNotes {
  readonly #options: Omit<VerifySettings, 'onProgress'>;
  readonly #stop = new AbortController();
  #isLookedFor = false;
  #noted: Promise<void> | undefined;

  constructor(options: Omit<VerifySettings, 'onProgress'>) {
    this.#options = options;
  }

  /** Collects what was left; `undefined` where there is nothing, or it was done. */
  collect(): Promise<void> | undefined {
    if (this.#isLookedFor) return undefined;
    this.#isLookedFor = true;
    const { history, client: service, ...settings } = this.#options;
    if (!history) return undefined;
    const launched = history.takeLaunched(this);
    const streams = history.takeUploads(this);
    if (launched.length + streams.length === 0) return undefined;
    const { signal } = this.#stop;
    return collectLaunched(launched, streams, { ...settings, history, service, signal });
  }

  /** Waited for before each upload. */
  async noteUploads(runId: string): Promise<void> {
    this.#noted ??= this.#options.history?.noteUploads(runId, this);
    await this.#noted;
  }

  /** All that was never launched is deleted, or named. */
  async dropUploads(runId: string): Promise<void> {
    if (this.#noted) await this.#options.history?.dropLaunch(runId);
  }

  /** Waited for before each launch. */
  async note(batch: Batch, batchUuid: string): Promise<void> {
    const { group } = batch;
    await this.#options.history?.noteLaunch({ batchUuid, group, keys: keysOf(batch) }, this);
  }

  /** What is not at its end is the next stream's. */
  leave(reason: unknown): void {
    this.#stop.abort(reason);
    this.#options.history?.release(this);
  }
}

async function* keysOf(batch: Batch): AsyncGenerator<string> {
  for await (const line of readLines(batch)) {
    const address = addressOf(batch, line);
    if ('key' in address) yield address.key;
  }
}

interface CollectOptions extends DriveSettings {
  readonly history: ResultHistory;
  readonly service: VerificationService;
  readonly signal: AbortSignal;
  /** Called with the names of uploads that may be left. */
  readonly onLeftBehind?: ((names: readonly string[]) => void) | undefined;
}

/**
 * Waits for batches that an earlier stream has launched and left, and has the history keep their results:
 * they are paid for. Nothing is launched: one that never was is deleted.
 *
 * @param launched as the history has given them to this owner
 * @param streams ids of those whose uploads are to be deleted, too
 */
export async function collectLaunched(
  launched: readonly LaunchedBatch[],
  streams: readonly string[],
  options: CollectOptions,
): Promise<void> {
  if (launched.length > 0) await collectAll(launched, options);
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
      // It may be parsing one, and delete it the next time.
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

async function collectAll(
  launched: readonly LaunchedBatch[],
  { history, service, signal, ...settings }: CollectOptions,
): Promise<void> {
  const of = ({ id }: Batch): LaunchedBatch => launched[id] as LaunchedBatch;
  const claims = new LocalClaims();
  const drive = new BatchPool(
    { service, runId: 'left', settings, signal },
    {
      state: (batch) => leftAt(of(batch).batchUuid),
      claim: (batch) => claims.claim(batch, leftAt(of(batch).batchUuid), () => undefined),
      collect: async (batch, open) => collect(of(batch), open, history),
      leave: async (batch, state) => {
        const { batchUuid } = of(batch);
        if (state.stage === 'exported') return;
        const end =
          state.stage === 'failed' ? 'gone' : await deleteBatch(service, batchUuid, false, signal);
        if (end !== 'launched') await history.dropLaunch(batchUuid);
      },
    },
  );
  drive.gate.hold();
  const batches = launched.map(({ batchUuid, group, addresses }, id): Batch => {
    // Its lines are not known any more, only their hashes.
    const batch = { id, group, addresses, sizeBytes: 0, checksum: 0, open: () => [] };
    drive.recall(batch, leftAt(batchUuid), batchUuid);
    return batch;
  });
  drive.add(batches);
  const stopped = await drive.idle();
  if (stopped) throw stopped.error;
}

/** Its launch was asked for, and the answer is not known. */
function leftAt(uuid: string): BatchState {
  const tries = { attempt: 1, fresh: 0, uploads: 0, misses: 0, prepares: 0, launches: 0 };
  return { stage: 'launching', uuid, isFound: false, ...tries, answeredError: false, doubt: true };
}

async function collect(
  launched: LaunchedBatch,
  open: ExportOpener,
  history: ResultHistory,
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
    const atMs = Date.now();
    await history.keepLaunched(launched, { atMs, outcomes, outcomeOf: (index) => found[index] });
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
  // One that names few of them may be right, or be asked for again: then they are.
  const rest =
    named * 2 < addresses || matched.ambiguous > 0
      ? undefined
      : outcomes.idOf('no_result', 'no_record');
  const found = Array.from({ length: addresses }, () => rest);
  for (const [place, number] of matched.numbers.entries()) found[number] = matched.outcomes[place];
  return found;
}
