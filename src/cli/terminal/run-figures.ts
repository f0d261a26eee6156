import type { VerificationType } from '../../contract/index.js';
import {
  isSluiceError,
  ProgressFigures,
  type BatchState,
  type RunProgress,
  type ServiceOutage,
} from '../../index.js';

/** Progress of a batch, in the order of its life. */
const ranks = {
  planned: 0,
  uploading: 1,
  uploaded: 2,
  parsing: 3,
  ready: 4,
  launching: 5,
  verifying: 6,
  done: 7,
  exported: 8,
  failed: 8,
  // Its parts count in its place.
  split: -1,
} as const satisfies Record<BatchState['stage'], number>;

export const runStages = [
  'reading',
  'uploading',
  'preparing',
  'verifying',
  'exporting',
  'writing',
] as const;
export type RunStage = (typeof runStages)[number];

/** The state of a batch that has passed a stage, and of one that is in it; how much of its way the stage is. */
const batchStages = {
  uploading: { in: ranks.uploading, through: ranks.uploaded, share: 0.05 },
  preparing: { in: ranks.uploaded, through: ranks.launching, share: 0.1 },
  verifying: { in: ranks.launching, through: ranks.done, share: 0.75 },
  exporting: { in: ranks.done, through: ranks.exported, share: 0.1 },
} as const;

/** Share of writing the rows in a run with batches. */
const writingShare = 0.05;
type BatchStage = keyof typeof batchStages;
const batchStageNames = Object.keys(batchStages) as readonly BatchStage[];

interface StageFigures {
  /** Rows or addresses that have passed it. */
  readonly done: number;
  /** Those of them that passed it since this process began. */
  readonly doneHere: number;
  /** The total; `undefined` while unknown. */
  readonly total: number | undefined;
  readonly batches: number;
  /** When its first row or batch arrived; `undefined` before. */
  readonly sinceMs: number | undefined;
  readonly isOver: boolean;
}

interface Amount {
  readonly addresses: number;
  readonly batches: number;
}

export class RunFigures {
  #isWaiting = false;
  /** Since when the service is silent or fails, if it does. */
  #waitingSinceMs: number | undefined;
  /** Of earlier waits. */
  #waitedMs = 0;
  readonly #progress = new ProgressFigures();
  #isRead = false;
  #isWritten = false;
  #toSend: number | undefined;
  #plannedBatches: number | undefined;
  #startedMs: number | undefined;
  #readMs = 0;
  readonly #since = new Map<RunStage, number>();
  /** What had its results when this process first got it. */
  #before: Amount = { addresses: 0, batches: 0 };

  /** Until the service answers, nobody knows how fast it goes. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The service keeps all of it waiting, or answers again. Its limit of requests is part of its pace. */
  noteOutage(outage: ServiceOutage, nowMs: number): void {
    this.#isWaiting = outage.state === 'waiting';
    if (outage.state === 'waiting') {
      const { error, pausedMs, forMs } = outage;
      const isOfLimit = pausedMs !== undefined || isSluiceError(error, 'too_many_requests');
      if (!isOfLimit) this.#waitingSinceMs ??= nowMs - forMs;
      return;
    }
    this.#waitedMs += nowMs - (this.#waitingSinceMs ?? nowMs);
    this.#waitingSinceMs = undefined;
  }

  note(progress: RunProgress, nowMs: number): void {
    this.#startedMs ??= nowMs;
    this.#note(progress, this.#workedMs(nowMs));
  }

  /** @param nowMs without waits, as in all times that are kept */
  #note(progress: RunProgress, nowMs: number): void {
    if (progress.stage === 'recalled') {
      for (const each of progress.batches) this.#note(each, nowMs);
      return;
    }
    const seen = this.#progress.batches.size;
    this.#progress.note(progress);
    switch (progress.stage) {
      case 'reading':
      case 'read':
        this.#begin('reading', nowMs);
        if (progress.stage === 'read') {
          this.#isRead = true;
          this.#readMs = nowMs - (this.#since.get('reading') ?? nowMs);
          this.#toSend = progress.toSend;
          this.#plannedBatches = progress.batches;
        }
        return;
      case 'batch':
        this.#noteBatch(progress, this.#progress.batches.size > seen, nowMs);
        return;
      case 'writing':
      case 'written':
        this.#begin('writing', nowMs);
        this.#isWritten ||= progress.stage === 'written';
        return;
      default:
    }
  }

  of(stage: RunStage): StageFigures {
    const sinceMs = this.#since.get(stage);
    if (stage === 'reading' || stage === 'writing') {
      const { rowsRead, rowsWritten } = this.#progress.now();
      const [done, isOver] =
        stage === 'reading' ? [rowsRead, this.#isRead] : [rowsWritten, this.#isWritten];
      const total = this.#isRead ? rowsRead : undefined;
      return { done, doneHere: done, total, batches: 0, sinceMs, isOver };
    }
    const { in: from, through } = batchStages[stage];
    let done = 0;
    let batches = 0;
    for (const { state, addresses } of this.#progress.batches.values()) {
      const rank = ranks[state.stage];
      if (rank >= through) done += addresses;
      else if (rank >= from) batches += 1;
    }
    const total = this.#toSend;
    const doneHere = stage === 'exporting' ? done - this.#before.addresses : done;
    const isOver = total !== undefined && done >= total;
    return { done, doneHere, total, batches, sinceMs, isOver };
  }

  /** Time since this process began, and time left as far as it is known. */
  time(nowMs: number): { readonly elapsedMs: number; readonly leftMs: number | undefined } {
    const leftMs = this.#leftMs(this.#workedMs(nowMs));
    return { elapsedMs: nowMs - (this.#startedMs ?? nowMs), leftMs };
  }

  /** Rows or addresses a second of this process since a stage began, waits left out. */
  rate(stage: RunStage, since: RunStage, nowMs: number): number | undefined {
    const { doneHere, isOver } = this.of(stage);
    const sinceMs = this.#since.get(since);
    if (sinceMs === undefined || isOver || this.isWaiting) return undefined;
    const seconds = (this.#workedMs(nowMs) - sinceMs) / 1000;
    // A shorter time gives no meaningful rate.
    return seconds >= 1 && doneHere > 0 ? doneHere / seconds : undefined;
  }

  #workedMs(nowMs: number): number {
    const waitingMs = nowMs - (this.#waitingSinceMs ?? nowMs);
    return nowMs - this.#waitedMs - waitingMs;
  }

  /**
   * How far all of it is, from 0 to 1: the stages that the addresses have passed, by the time that each takes as
   * a rule, and the writing a little. It is 1 only once the output is in its place, which takes its time after the last row.
   * `undefined` until the list is read.
   */
  get share(): number | undefined {
    if (!this.#isRead) return undefined;
    const { rowsRead, rowsWritten } = this.#progress.now();
    const written = this.#isWritten ? 1 : rowsWritten / Math.max(1, rowsRead);
    const total = this.#toSend ?? 0;
    const passed = batchStageNames.reduce(
      (sum, stage) => sum + this.of(stage).done * batchStages[stage].share,
      0,
    );
    const done = Math.min(1, passed / total);
    const share = total === 0 ? written : done + (written - done) * writingShare;
    return Math.min(this.#isWritten ? 1 : 0.99, share);
  }

  get batches(): { readonly done: number; readonly total: number | undefined } {
    return { done: this.#progress.now().batchesDone, total: this.#plannedBatches };
  }

  get failedBatches(): number {
    return this.#progress.now().batchesFailed;
  }

  /** The most that launched batches may cost. */
  get launchedCredits(): Readonly<Record<VerificationType, number>> {
    return this.#progress.now().credits;
  }

  /**
   * What launched batches cost before refunds, and the refunds: of a verified batch as the service says, of
   * any other the most. While the service verifies, its figures are those of a part.
   */
  credits(): { readonly [Type in VerificationType]: number } & { readonly refunded: number } {
    const credits = { email: 0, phone: 0, refunded: 0 };
    for (const {
      type,
      addresses,
      state,
      mayHaveLaunched,
      charge,
    } of this.#progress.batches.values()) {
      if (!mayHaveLaunched) continue;
      const known = ranks[state.stage] >= ranks.done ? charge : undefined;
      credits[type] += known?.spent ?? addresses;
      credits.refunded += known?.refunded ?? 0;
    }
    return credits;
  }

  get sentBatches(): number {
    return this.#progress.now().batches;
  }

  get launchedBatches(): number {
    return this.#progress.now().batchesLaunched;
  }

  /**
   * What the rate shown beside it makes of the rest. While more batches are under way than this process has
   * brought to their end, nobody knows: their results may come together at any moment.
   */
  #leftMs(nowMs: number): number | undefined {
    if (!this.#isRead || this.#isWritten || this.isWaiting) return undefined;
    const { isOver } = this.of('exporting');
    if (isOver) {
      const { done, total = 0, sinceMs = nowMs } = this.of('writing');
      // Writing the rows takes about as long as reading them.
      if (done === 0) return this.#readMs;
      // A folder or a table commits its rows at the end, in a time of its own.
      return done < total ? ((nowMs - sinceMs) / done) * (total - done) : undefined;
    }
    const beganMs = this.#since.get('uploading');
    const share = this.#shareHere;
    if (beganMs === undefined || share === undefined) return undefined;
    return ((nowMs - beganMs) * (1 - share)) / share + this.#readMs;
  }

  /** How much of what this process found to do is done: a batch takes its time however small it is. */
  get #shareHere(): number | undefined {
    const { doneHere, total: addresses = 0 } = this.of('exporting');
    const { done, total: batches = 0 } = this.batches;
    const batchesHere = done - this.#before.batches;
    const underWay = batchStageNames.reduce((sum, stage) => sum + this.of(stage).batches, 0);
    if (doneHere <= 0 || batchesHere < underWay) return undefined;
    return Math.min(
      doneHere / (addresses - this.#before.addresses),
      batchesHere / (batches - this.#before.batches),
    );
  }

  #noteBatch(
    { batch, state }: Extract<RunProgress, { readonly stage: 'batch' }>,
    isNew: boolean,
    nowMs: number,
  ): void {
    const rank = ranks[state.stage];
    for (const stage of batchStageNames)
      if (rank >= batchStages[stage].in) this.#begin(stage, nowMs);
    const isThrough = rank >= ranks.exported;
    if (isNew && isThrough) {
      const { addresses, batches } = this.#before;
      this.#before = { addresses: addresses + batch.addresses, batches: batches + 1 };
    }
  }

  #begin(stage: RunStage, nowMs: number): void {
    if (!this.#since.has(stage)) this.#since.set(stage, nowMs);
  }
}
