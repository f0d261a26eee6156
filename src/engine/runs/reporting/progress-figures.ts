import type { Batch } from '../../batches/batch.js';
import type { Charge } from '../../batches/status-answer.js';
import { isAtEnd, type BatchState } from '../../batches/batch-state.js';
import type { VerificationType } from '../../../contract/enums.js';
import type { VerifyProgress } from '../../streams/stream-options.js';
import type { RunProgress } from './run-progress.js';

/** Progress of a run or a stream. */
export interface Figures {
  readonly rowsRead: number;
  /** With `run()`, 0 until all batches are at their end. */
  readonly rowsWritten: number;
  /** Addresses of all batches; `undefined` until the list is read, and for streams. */
  readonly addressesToSend: number | undefined;
  /** Addresses of finished batches. */
  readonly addressesDone: number;
  /** Those that were done before this process resumed the run. */
  readonly addressesDoneBefore: number;
  readonly batchesToSend: number | undefined;
  /** Batches of which something was sent. */
  readonly batches: number;
  /** Those that may have been launched, and paid. */
  readonly batchesLaunched: number;
  /** Those that are finished, failed ones included. */
  readonly batchesDone: number;
  readonly batchesFailed: number;
  /** The most that launched batches cost: one credit for each address. Never falls. */
  readonly credits: Readonly<Record<VerificationType, number>>;
  /** Credits that the service did not charge or gave back. */
  readonly notCharged: number;
}

/** The latest state of a batch. */
interface NotedBatch {
  readonly addresses: number;
  readonly type: VerificationType;
  readonly state: BatchState;
  readonly mayHaveLaunched: boolean;
  readonly charge: Charge | undefined;
}

/**
 * Condenses the progress of `verify()`, `run()` and `streamRun()` into a few figures for a log.
 *
 * @example
 * ```ts
 * const figures = new ProgressFigures();
 * await run({
 *   source: 'contacts.csv',
 *   sink: 'out.csv',
 *   client,
 *   email: ['email'],
 *   country: 'US',
 *   onProgress: (progress) => figures.note(progress),
 * });
 * const { addressesDone, addressesToSend, credits } = figures.now();
 * console.log(`${addressesDone} of ${addressesToSend}`, credits.email); // 2 of 2 2
 * ```
 */
export class ProgressFigures {
  readonly #batches = new Map<string, NotedBatch>();
  #rowsRead = 0;
  #rowsWritten = 0;
  #addressesToSend: number | undefined;
  #plannedBatches: number | undefined;
  #addressesDoneBefore = 0;

  note(progress: VerifyProgress | RunProgress): void {
    switch (progress.stage) {
      case 'reading':
      case 'read':
        this.#rowsRead = progress.rows;
        if ('toSend' in progress) {
          this.#addressesToSend = progress.toSend;
          this.#plannedBatches = progress.batches;
        }
        return;
      case 'writing':
      case 'written':
        this.#rowsWritten = progress.rows;
        return;
      case 'batch': {
        const { batch, state, mayHaveLaunched, charge } = progress;
        const { addresses, group } = batch;
        const noted = { addresses, type: group.type, state, mayHaveLaunched, charge };
        this.#batches.set(keyOf(batch), noted);
        return;
      }
      case 'recalled':
        for (const batch of progress.batches) this.note(batch);
        this.#addressesDoneBefore = this.now().addressesDone;
        return;
      default:
    }
  }

  now(): Figures {
    // Parts are counted in their batch's place.
    const all = [...this.#batches.values()];
    const batches = all.filter(({ state }) => state.stage !== 'split');
    const ended = batches.filter(({ state }) => isAtEnd(state));
    const launched = batches.filter(({ mayHaveLaunched }) => mayHaveLaunched);
    const creditsOf = (wanted: VerificationType): number =>
      addressesOf(launched.filter(({ type }) => type === wanted));
    const planned = this.#plannedBatches;
    return {
      rowsRead: this.#rowsRead,
      rowsWritten: this.#rowsWritten,
      addressesToSend: this.#addressesToSend,
      addressesDone: addressesOf(ended),
      addressesDoneBefore: this.#addressesDoneBefore,
      // A split batch makes room for two.
      batchesToSend: planned === undefined ? undefined : planned + all.length - batches.length,
      batches: batches.length,
      batchesLaunched: launched.length,
      batchesDone: ended.length,
      batchesFailed: ended.filter(({ state }) => state.stage === 'failed').length,
      credits: { email: creditsOf('email'), phone: creditsOf('phone') },
      notCharged: launched.reduce(
        (sum, { charge, addresses }) =>
          charge ? sum + addresses - charge.spent + charge.refunded : sum,
        0,
      ),
    };
  }

  /** The latest state of each batch and part. */
  get batches(): ReadonlyMap<string, NotedBatch> {
    return this.#batches;
  }
}

function addressesOf(batches: readonly NotedBatch[]): number {
  return batches.reduce((sum, { addresses }) => sum + addresses, 0);
}

function keyOf(batch: Batch): string {
  return `${batch.id} ${batch.part?.start ?? 0} ${batch.addresses}`;
}
