import { DeadlineError } from '../../../platform/errors/errors.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { elected, type BatchState } from '../../batches/batch-state.js';
import { replaced } from '../../batches/transitions.js';
import { isBeforeLaunch } from '../../batches/uploads/delete-orphans.js';
import { deleteBatch } from '../../batches/uploads/delete-uploads.js';
import { isVisible } from '../../batches/uploads/list-uploads.js';
import type { BatchPool } from '../../driver/batch-pool.js';
import { notLaunched } from '../../plan/result-cache.js';
import type { DriveRunOptions, RunBatches } from './run-batches.js';

/** What was not launched of a run in whose place another begins. */
export class GivenUpBatches {
  readonly #options: DriveRunOptions;
  readonly #batches: RunBatches;
  readonly #drive: BatchPool;
  /** Uuids whose launch the service refused. */
  readonly #refused: string[] = [];
  /** Uuids of undeleted ones: their launch may have arrived after all. */
  readonly #kept = new Set<string>();

  constructor(options: DriveRunOptions, batches: RunBatches, drive: BatchPool) {
    this.#options = options;
    this.#batches = batches;
    this.#drive = drive;
  }

  async giveUpUnlaunched(): Promise<void> {
    for (const driven of this.#batches.log.batches()) {
      const { state } = driven;
      if (!isBeforeLaunch(state)) continue;
      if ('launches' in state && state.launches > 0) this.#refused.push(state.uuid);
      await this.#giveUp(driven);
    }
  }

  /**
   * Deletes batches in doubt that the service calls ready: their launch was not carried out.
   *
   * @returns whether some must be read again
   * @throws DeadlineError when one is ready for the second time and still not deleted
   */
  async giveUpReady(): Promise<boolean> {
    const { client, run } = this.#options;
    let isAnyInDoubt = false;
    for (const driven of this.#batches.log.batches()) {
      const { state, name = '' } = driven;
      const isGivenUp = state.stage === 'launching' && state.isGivenUp === true;
      if (state.stage !== 'ready' && !isGivenUp) continue;
      // Recorded first: after a kill the next process finds the upload, or knows why it is gone.
      const noted: BatchState = {
        ...elected(state),
        stage: 'launching',
        answeredError: false,
        isGivenUp: true,
      };
      await this.#batches.record({ ...driven, name, state: noted });
      const end = await this.#drive.inTurn(async () =>
        deleteBatch(client, state.uuid, { signal: run.signal }),
      );
      // What the service says to have deleted and still has may be launched yet.
      if (end === 'gone' && !(await isVisible(client, state.uuid, run.signal))) {
        await this.#dropLaunch(state.uuid);
        await this.#giveUp({ ...driven, state: noted });
        continue;
      }
      if (this.#kept.has(state.uuid)) {
        throw new DeadlineError(
          `batch ${name} (${state.uuid}): its launch was asked for and may still come, and the service does not delete it`,
          { code: 'service_unavailable' },
        );
      }
      this.#kept.add(state.uuid);
      isAnyInDoubt = true;
    }
    return isAnyInDoubt;
  }

  async dropRefused(): Promise<void> {
    const { client, run } = this.#options;
    for (const uuid of this.#refused) {
      if (!(await isVisible(client, uuid, run.signal))) await this.#dropLaunch(uuid);
    }
  }

  /** Nothing will come of a launch that the history notes: its batch is gone, and no run waits for it. */
  async #dropLaunch(uuid: string): Promise<void> {
    await this.#options.run.history?.dropLaunch(uuid, notLaunched);
  }

  async #giveUp(driven: DrivenBatch): Promise<void> {
    const { name = '', state } = driven;
    await this.#batches.record({ ...driven, name, state: replaced(state) });
  }
}
