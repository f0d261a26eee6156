import { beforeDeadline, systemClock } from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/promises.js';
import { type BatchState, mayHaveLaunched } from '../batches/batch-state.js';
import { type Batch, batchLabel, uuidKey } from '../batches/batch.js';
import { unconfirmedUploads } from '../batches/batch-log.js';
import type { BatchProgress } from '../batches/claim.js';
import {
  copiesIn,
  deleteCutOff,
  deleteOrphans,
  isInDoubt,
  type LeftBatch,
  type LeftUploads,
  mayHaveOrphans,
  namesInDoubt,
} from '../batches/uploads/delete-orphans.js';
import { deleteBatch, deleteUnwanted, longestCheckMs } from '../batches/uploads/delete-uploads.js';
import type { UploadRegistry } from '../batches/uploads/upload-registry.js';
import type { SettledParcel } from './parcel.js';
import type { DriveBatchesOptions } from './stream-options.js';

/**
 * Deletes the batches of a stream from the service, each once its results are safe, or it has failed before
 * its launch. The stream names undeleted and doubtful ones at its end.
 */
export class SettledDeletions {
  readonly #options: DriveBatchesOptions;
  readonly #onFailed: (error: Error) => void;
  readonly #stop = new AbortController();
  /** By label: names of launched batches that are not deleted. */
  readonly #names = new Map<string, string>();
  /** Labels of batches whose launch is in doubt: none is deleted. */
  readonly #doubtful = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  /** By key of the uuid: names of those that the service says to have deleted. */
  readonly #deleted = new Map<string, string>();
  /** A stream that ends well is destroyed after that: the list is read once. */
  #checked: Promise<void> | undefined;

  constructor(options: DriveBatchesOptions, onFailed: (error: Error) => void) {
    this.#options = options;
    this.#onFailed = onFailed;
  }

  note({ batch, state, name }: BatchProgress): void {
    const label = batchLabel(batch);
    this.#names.delete(label);
    this.#doubtful.delete(label);
    if (isInDoubt(state)) this.#doubtful.add(label);
    else if (mayHaveLaunched(state)) this.#names.set(label, name);
  }

  /** A batch is finished, and its results are stored. */
  settled(parcel: SettledParcel): void {
    const work = this.#delete(parcel)
      .catch(this.#onFailed)
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  /** Resolves when all that settled is deleted or reported: what the list has all the same, too. */
  async done(): Promise<void> {
    this.#checked ??= this.#check();
    return this.#checked;
  }

  async #check(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#deleted.size === 0) return;
    const { client, clock = systemClock, onLeftBehind } = this.#options;
    const names = new Set(this.#deleted.values());
    const left = await deleteUnwanted(
      client,
      ({ name }) => names.has(name),
      { signal: this.#stop.signal, clock, deadlineMs: longestCheckMs, timeoutMs: longestCheckMs },
      [],
      (uuid) => this.#deleted.has(uuidKey(uuid)),
    );
    if (left.length > 0) onLeftBehind?.(left);
  }

  /** The same for a stream that ends early, within a time; reports the rest, including what is under way. */
  async leave(ms: number): Promise<void> {
    const { clock = systemClock, onLeftBehind } = this.#options;
    const work = async (signal: AbortSignal): Promise<void> => orAborted(this.done(), signal);
    const toError = (): Error => new Error('not all was deleted in time');
    await beforeDeadline(work, { clock, ms, toError }).catch(() => undefined);
    const names = [...this.#names.values()];
    this.#names.clear();
    this.#stop.abort();
    if (names.length > 0) onLeftBehind?.(names);
  }

  async #delete({ batch, batchUuid, ending }: SettledParcel): Promise<void> {
    const { client, onLeftBehind } = this.#options;
    const label = batchLabel(batch);
    const areResultsSafe = 'results' in ending;
    if (this.#doubtful.delete(label) || batchUuid === undefined) return;
    const { signal } = this.#stop;
    const end = await deleteBatch(client, batchUuid, { signal }, areResultsSafe).catch(
      () => 'left' as const,
    );
    const name = this.#names.get(label);
    this.#names.delete(label);
    if (name === undefined) return;
    if (end === 'gone') this.#deleted.set(uuidKey(batchUuid), name);
    else onLeftBehind?.([name]);
  }
}

interface SentBatch extends LeftBatch {
  readonly sentAs: string;
}

/** The uploads that a stream has not launched: at its end they are useless, and personal data. */
export class StreamUploads {
  readonly #options: DriveBatchesOptions;
  readonly #runId: string;
  readonly #uploads: UploadRegistry;
  /** Batches that may have left useless uploads; no others are remembered. */
  #left: LeftBatch[] = [];
  /** By label: batches in hand of which something was sent. */
  readonly #underWay = new Map<string, SentBatch>();

  constructor(options: DriveBatchesOptions, runId: string, uploads: UploadRegistry) {
    this.#options = options;
    this.#runId = runId;
    this.#uploads = uploads;
  }

  get isEmpty(): boolean {
    return this.#all().length + this.#uploads.copies().length === 0;
  }

  note({ batch, state, name: sentAs }: BatchProgress): void {
    const label = batchLabel(batch);
    const before = this.#underWay.get(label);
    const unconfirmed = unconfirmedUploads(before && { ...before, name: before.sentAs }, state);
    // The name of an earlier upload is unknown here.
    const name = state.attempt === 1 ? sentAs : undefined;
    this.#underWay.set(label, { batch, state, name, sentAs, unconfirmed });
  }

  leave(batch: Batch, state: BatchState): void {
    const label = batchLabel(batch);
    const { name, unconfirmed } = this.#underWay.get(label) ?? {};
    this.#underWay.delete(label);
    if (mayHaveOrphans(state, true) || isInDoubt(state)) {
      this.#left.push({ batch, state, name, unconfirmed });
    }
  }

  /** Deletes what is useless, and reports the rest. */
  async delete(signal: AbortSignal, deadlineMs: number): Promise<void> {
    const { client, clock = systemClock } = this.#options;
    const options = { isGivenUp: true, ...copiesIn(this.#uploads), signal, clock, deadlineMs };
    this.#report(await deleteOrphans(client, this.#runId, this.#left, options));
  }

  /** The same where the stream ends early. @param idle resolves when no request is under way */
  async deleteCutOff(deadlineMs: number, idle: () => Promise<unknown>): Promise<void> {
    const { client, clock = systemClock } = this.#options;
    const left = (): readonly LeftBatch[] => this.#all();
    const options = { clock, deadlineMs, idle, uploads: this.#uploads };
    this.#report(await deleteCutOff(client, this.#runId, left, options));
  }

  #all(): readonly LeftBatch[] {
    return [...this.#left, ...this.#underWay.values()];
  }

  #report({ left, unconfirmed }: LeftUploads): void {
    const names = [...left, ...namesInDoubt(this.#all(), this.#runId)];
    this.#left = [];
    if (names.length > 0) this.#options.onLeftBehind?.(names, true);
    if (unconfirmed.length > 0) this.#options.onLeftBehind?.(unconfirmed, false);
  }
}
