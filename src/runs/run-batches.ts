import { ClaimLostError, type BatchClaim } from '../batches/batch-claim.js';
import { batchLabel } from '../batches/batch-label.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import type { Batch } from '../batches/batch.js';
import { halveBatch } from '../batches/halve-batch.js';
import { planned, type KnownBatch } from '../batches/known-batch.js';
import { systemClock } from '../system/clock.js';
import { batchProgress } from '../streams/verify-progress.js';
import { noTimes } from './batch-times.js';
import { DriveLog } from './drive-log.js';
import type { DriveRunOptions } from './drive-run-options.js';
import { entryOf } from './known-run.js';
import type { RunClaim } from './run-store.js';

/** The batches of a run and their parts: what is known of each, and which of them this process may drive. */
export class RunBatches {
  readonly #options: Pick<DriveRunOptions, 'run' | 'state' | 'takeUp'>;
  readonly #onRecalled: (batch: Batch, known: KnownBatch, name: string) => void;
  /** By label. */
  readonly #claims = new Map<string, RunClaim>();
  readonly log = new DriveLog();
  /** The batches, and the parts of those that were split in their place. */
  readonly all = new Set<Batch>();

  /** @param onRecalled told of what was known before, or has become known to another process */
  constructor(
    options: Pick<DriveRunOptions, 'run' | 'state' | 'takeUp'>,
    onRecalled: (batch: Batch, known: KnownBatch, name: string) => void,
  ) {
    this.#options = options;
    this.#onRecalled = onRecalled;
  }

  known(batch: Batch): KnownBatch {
    return this.log.known(batch);
  }

  /** Takes up what journal and service know of batches, or of the parts that they were split into. */
  async takeUp(batches: readonly Batch[]): Promise<void> {
    await this.claim(batches);
    for (const batch of batches) {
      const claim = this.#claims.get(batchLabel(batch));
      if (claim) await this.#recall(claim);
      else await this.hear(batch);
    }
  }

  /** @returns what this process has a claim on now and had none before */
  async claim(wanted: readonly Batch[]): Promise<readonly Batch[]> {
    const claims = await this.#options.state.claim(wanted);
    for (const claim of claims) this.#claims.set(batchLabel(claim.batch), claim);
    return claims.map(({ batch }) => batch);
  }

  /** @returns those that this process may drive from now on */
  async claimMore(wanted: readonly Batch[]): Promise<readonly Batch[]> {
    const claimed = await this.claim(wanted);
    for (const batch of claimed) await this.#recall(this.held(batch));
    const { takeUp, run } = this.#options;
    if (claimed.length > 0) takeUp.tell(this.log.uuids(), run.onProgress);
    return claimed.filter((batch) => this.all.has(batch));
  }

  /** Takes in what another process has written down of a batch. */
  async hear(batch: Batch): Promise<void> {
    const entry = entryOf(this.#options.state.known, batch);
    const times = this.#options.state.known.times.get(batchLabel(batch)) ?? noTimes;
    if (entry) {
      const { known, name, exported } = entry;
      const driven = { batch, known, name, charge: entry.charge ?? undefined, exported };
      const isNews = this.log.known(batch).stage !== known.stage;
      this.#onRecalled(batch, known, name);
      this.log.recall({ ...driven, times });
      if (isNews) this.#options.run.onProgress?.(batchProgress(driven));
    }
    if (entry?.known.stage !== 'split') {
      this.all.add(batch);
      return;
    }
    this.all.delete(batch);
    for (const part of await halveBatch(batch)) await this.hear(part);
  }

  /** A batch goes on as its parts. */
  async split(batch: Batch, parts: readonly Batch[]): Promise<void> {
    this.all.delete(batch);
    for (const part of parts) this.all.add(part);
    await this.claim(parts);
  }

  isHeld(batch: Batch): boolean {
    return this.#claims.has(batchLabel(batch));
  }

  /** @throws ClaimLostError */
  held(batch: Batch): RunClaim {
    const label = batchLabel(batch);
    const claim = this.#claims.get(label);
    if (!claim) throw new ClaimLostError(label);
    return claim;
  }

  lose(batch: Batch): void {
    this.#claims.delete(batchLabel(batch));
  }

  /** The claim that a batch is driven under: whatever is recorded is told, too. @throws ClaimLostError */
  toldClaim(batch: Batch): BatchClaim {
    const claim = this.held(batch);
    return {
      ...(claim.lost && { lost: claim.lost }),
      confirm: async () => claim.confirm(),
      reserve: async (most) => claim.reserve(most),
      record: async (progress) => this.#record(claim, progress),
    };
  }

  /** @throws ClaimLostError, OutputError */
  async record(progress: BatchProgress): Promise<void> {
    await this.#record(this.held(progress.batch), progress);
  }

  /** The wall clock's time. */
  now(): string {
    return new Date((this.#options.run.clock ?? systemClock).wallNow()).toISOString();
  }

  async #record(claim: RunClaim, progress: BatchProgress): Promise<void> {
    const at = this.now();
    const driven = this.log.withBefore(progress, at);
    const { charge, exported } = driven;
    await claim.record({ ...progress, charge, exported }, at);
    this.log.recall(driven);
    this.#options.run.onProgress?.(batchProgress(progress));
  }

  async #recall({ batch, entry, times }: RunClaim): Promise<void> {
    const { takeUp, run } = this.#options;
    const before = entry?.known ?? planned;
    const learned = takeUp.learn(batch, before);
    const known = run.retryFailed === true ? takeUp.tryAgain(batch, learned) : learned;
    const driven = {
      batch,
      known,
      name: known === before && entry ? entry.name : takeUp.nameOf(batch, known),
      charge: entry?.charge ?? undefined,
      exported: entry?.exported,
      times,
    };
    this.#onRecalled(batch, known, driven.name);
    if (entry) this.log.recall(driven);
    if (known !== before) await this.record(driven);
    if (known.stage === 'split') await this.takeUp(await halveBatch(batch));
    else this.all.add(batch);
  }
}
