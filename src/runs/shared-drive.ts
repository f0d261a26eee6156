import type { Batch } from '../batches/batch.js';
import type { DriveAll } from '../batches/drive-all.js';
import { isAtEnd, type EndedBatch } from '../batches/known-batch.js';
import type { DriveRunOptions } from './drive-run-options.js';
import type { RunBatches } from './run-batches.js';
import { letsFinish, stopForAll, stopOfOthers } from './run-stop.js';

export interface SharedDriveOptions extends Pick<DriveRunOptions, 'state' | 'signal' | 'stop'> {
  readonly drive: DriveAll;
  readonly batches: RunBatches;
  /** Takes in the end that another process has brought a batch to. */
  settle(batch: Batch, known: EndedBatch): Promise<void>;
}

/** The part of a run that other processes have a share in: each claims batches as it has room for them. */
export class SharedDrive {
  readonly #options: SharedDriveOptions;
  /** Whether something may have changed since it was last looked at. */
  #isTold = false;
  #wake: (() => void) | undefined;
  /** When the run was stopped before this process worked on it. */
  readonly #stoppedBefore: string | undefined;
  /** Whether it is stopped for all. */
  #isStoppedForAll = false;

  constructor(options: SharedDriveOptions) {
    this.#options = options;
    this.#stoppedBefore = options.state.known.stopped?.at;
  }

  /** There may be room for another batch. */
  tell(): void {
    this.#isTold = true;
    this.#wake?.();
  }

  /**
   * Drives what it can claim, until all is at its end by whichever process, or has stopped here.
   *
   * @param open batches that are not settled and that this process has no claim on
   * @throws the signal's reason
   */
  async toEnd(open: () => readonly Batch[]): Promise<void> {
    const { drive, signal } = this.#options;
    for (;;) {
      await this.#hear(open());
      this.#hearStop();
      await this.#tellStop();
      if (this.#isStopped || open().length === 0) {
        await drive.idle();
        // Meanwhile a claim may have been lost.
        if (open().length === 0) return;
        if (!drive.stoppedBy) signal.throwIfAborted();
        if (this.#isStopped) return;
      }
      if (!(await this.#claimNext(open()))) await this.#news();
    }
  }

  get #isStopped(): boolean {
    const { drive, signal } = this.#options;
    const isOver = (drive.stoppedBy ?? drive.gate.closedBy) !== undefined || signal.aborted;
    return isOver || this.#isEnded;
  }

  /** Whether there is nothing left of the run to be driven by anybody. */
  get #isEnded(): boolean {
    const { news, known } = this.#options.state;
    return news !== undefined && (known.finished !== undefined || known.run === undefined);
  }

  /** Takes in what has stopped another process. */
  #hearStop(): void {
    const { state, drive, stop } = this.#options;
    const { stopped } = state.known;
    if (!stopped || !stop || this.#isStoppedForAll || stopped.at === this.#stoppedBefore) return;
    this.#isStoppedForAll = true;
    const error = stopOfOthers(stopped);
    if (letsFinish(stopped)) drive.gate.close(error);
    else stop(error);
  }

  /** What stops one launches nothing more in any. */
  async #tellStop(): Promise<void> {
    const { state, drive, stop } = this.#options;
    const error = drive.stoppedBy?.error ?? drive.gate.closedBy;
    const stopped = stop && stopForAll(error);
    if (!stopped || this.#isStoppedForAll) return;
    this.#isStoppedForAll = true;
    await state.record?.(stopped);
  }

  /** Takes in what others have written down by now. */
  async #hear(open: readonly Batch[]): Promise<void> {
    const { batches } = this.#options;
    for (const batch of open) {
      await batches.hear(batch);
      const known = batches.known(batch);
      if (isAtEnd(known)) await this.#options.settle(batch, known);
    }
  }

  /** @returns whether there was one that it could have */
  async #claimNext(open: readonly Batch[]): Promise<boolean> {
    const { drive, batches } = this.#options;
    if (!drive.hasRoom) return false;
    const claimed = await batches.claimMore(open);
    drive.add(claimed);
    return claimed.length > 0;
  }

  /** Waits until there may be room, or others have done something. */
  async #news(): Promise<void> {
    const { state, signal } = this.#options;
    const over = new AbortController();
    const told = new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#isTold) resolve();
    });
    const news = state.news?.(AbortSignal.any([signal, over.signal])) ?? told;
    try {
      await Promise.race([told, news]);
    } catch (error) {
      // Whoever aborts is heard of in the next round.
      if (!signal.aborted) throw error;
    } finally {
      over.abort();
      this.#isTold = false;
    }
  }
}
