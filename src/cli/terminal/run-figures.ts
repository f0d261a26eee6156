import type { VerificationType } from '../../contract/index.js';
import {
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

/** The stages of a run as a person sees them. */
export const runStages = [
  'reading',
  'uploading',
  'preparing',
  'verifying',
  'exporting',
  'writing',
] as const;
export type RunStage = (typeof runStages)[number];

/** The state of a batch that has passed a stage, and of one that is in it. */
const batchStages = {
  uploading: { in: ranks.uploading, through: ranks.uploaded },
  preparing: { in: ranks.uploaded, through: ranks.launching },
  verifying: { in: ranks.launching, through: ranks.done },
  exporting: { in: ranks.done, through: ranks.exported },
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
  /** Batches that are in it now. */
  readonly batches: number;
  /** When its first row or batch arrived; `undefined` before. */
  readonly sinceMs: number | undefined;
  readonly isOver: boolean;
}

interface Amount {
  readonly addresses: number;
  readonly batches: number;
}

/** What is not over is never taken for it, however long it takes. */
const mostOfLife = 0.95;

interface Life {
  readonly addresses: number;
  rank: number;
  /** How long one has been under way that an earlier process has begun, nobody knows. */
  readonly beganMs: number | undefined;
  /** Until its results came; `undefined` before. */
  tookMs?: number;
}

export class RunFigures {
  /** Since when the service keeps all of it waiting, if it does. */
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
  readonly #lives = new Map<string, Life>();

  /** Until the service answers, nobody knows how fast it goes. */
  get isWaiting(): boolean {
    return this.#waitingSinceMs !== undefined;
  }

  /** The service keeps all of it waiting, or answers again. */
  noteOutage({ state, forMs }: ServiceOutage, nowMs: number): void {
    if (state === 'waiting') {
      this.#waitingSinceMs ??= nowMs - forMs;
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
   * How far all of it is, from 0 to 1: how many results are there, which is what takes long, and the writing
   * a little. It is 1 only once the output is in its place, which takes its time after the last row.
   * `undefined` until the list is read.
   */
  get share(): number | undefined {
    if (!this.#isRead) return undefined;
    const { rowsRead, rowsWritten } = this.#progress.now();
    const written = this.#isWritten ? 1 : rowsWritten / Math.max(1, rowsRead);
    const total = this.#toSend ?? 0;
    const done = Math.min(1, this.of('exporting').done / total);
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

  get launchedBatches(): number {
    return this.#progress.now().batchesLaunched;
  }

  /**
   * Batches work side by side, by other processes too: one that is under way counts for as much of it as
   * others took. Each takes its time however small it is, so that all of it is no further than its batches
   * are. Until results of a batch are there, nobody knows how long the service takes.
   */
  #leftMs(nowMs: number): number | undefined {
    if (!this.#isRead || this.#isWritten || this.isWaiting) return undefined;
    const { isOver, doneHere } = this.of('exporting');
    if (isOver) {
      const { done, total = 0, sinceMs = nowMs } = this.of('writing');
      // Writing the rows takes about as long as reading them.
      if (done === 0) return this.#readMs;
      // A folder or a table commits its rows at the end, in a time of its own.
      return done < total ? ((nowMs - sinceMs) / done) * (total - done) : undefined;
    }
    const beganMs = this.#since.get('uploading');
    if (beganMs === undefined || doneHere <= 0) return undefined;
    const share = this.#shareHere(nowMs);
    return ((nowMs - beganMs) * (1 - share)) / share + this.#readMs;
  }

  /** How much of what this process found to do is done. */
  #shareHere(nowMs: number): number {
    const took = [...this.#lives.values()].flatMap(({ tookMs }) => tookMs ?? []);
    const typicalMs = took.reduce((sum, each) => sum + each, 0) / took.length;
    let [addresses, batches] = [0, 0];
    for (const { addresses: ofBatch, rank, beganMs } of this.#lives.values()) {
      const isUnderWay = rank >= 0 && took.length > 0 && beganMs !== undefined && nowMs > beganMs;
      const partly = isUnderWay ? Math.min(mostOfLife, (nowMs - beganMs) / typicalMs) : 0;
      const share = rank >= ranks.exported ? 1 : partly;
      addresses += share * ofBatch;
      batches += share;
    }
    const shareOf = (done: number, total: number): number =>
      total <= 0 ? 1 : Math.min(1, done / total);
    return Math.min(
      shareOf(addresses, (this.#toSend ?? 0) - this.#before.addresses),
      shareOf(batches, (this.#plannedBatches ?? 0) - this.#before.batches),
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
      return;
    }
    const key = `${batch.id} ${batch.part?.start ?? 0} ${batch.addresses}`;
    const life = this.#lives.get(key);
    if (!life) {
      if (rank === ranks.planned) return;
      const beganMs = rank <= ranks.uploaded ? nowMs : undefined;
      this.#lives.set(key, { addresses: batch.addresses, rank, beganMs });
      return;
    }
    life.rank = rank;
    if (isThrough && life.beganMs !== undefined) life.tookMs ??= nowMs - life.beganMs;
  }

  #begin(stage: RunStage, nowMs: number): void {
    if (!this.#since.has(stage)) this.#since.set(stage, nowMs);
  }
}
