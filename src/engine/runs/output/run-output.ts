import { Notifier } from '../../../platform/waiting/promises.js';
import { verificationTypes } from '../../../contract/enums.js';
import type { Sink } from '../../../lists/rows/sink.js';
import { OutcomeTally } from '../../summary/outcome-tally.js';
import type { MaxUnknown, ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { writeJoined } from './write-output.js';
import { noticed } from '../reporting/run-progress.js';
import type { Clock } from '../../../platform/waiting/clock.js';

interface WrittenOutput {
  readonly tally: OutcomeTally;
  readonly sink: Sink;
  /** The percentage of unknown verdicts that a type goes beyond, where the rows are in the suspect output. */
  readonly suspectBeyond?: number | undefined;
}

interface RunOutputOptions {
  readonly run: ResolvedRun;
  readonly runId: string;
  readonly plannedInput: PlannedInput;
  readonly confirm?: () => Promise<void>;
}

/** The output of a run: written when all batches are settled, or beside them where its sink allows it. */
export class RunOutput {
  readonly #options: RunOutputOptions;
  readonly #early: EarlyWriter<OutcomeTally> | undefined;
  /** Whether only rows are left to be written. */
  #isDriven = false;
  #rows = 0;
  /** Batches and parts settled while this output waited. */
  #settled = 0;

  private constructor(options: RunOutputOptions, mayWaitMs: number) {
    this.#options = options;
    const write = async (waits: WriteWaits): Promise<OutcomeTally> =>
      this.#write(options.run.sink, waits);
    if (mayWaitMs === Infinity) this.#early = new EarlyWriter(write);
    else if (mayWaitMs > 0) {
      const { clock } = options.run;
      const beganAt = clock.now();
      const leftMs = (): number =>
        ((clock.now() - beganAt) / this.#settled) *
        Math.max(0, options.plannedInput.batches.length - this.#settled);
      this.#early = new EarlyWriter(write, { mostMs: mayWaitMs, leftMs, clock });
    }
  }

  static async begin(options: RunOutputOptions): Promise<RunOutput> {
    const { sink, maxUnknown } = options.run;
    // The output is chosen only when all batches are settled.
    if (maxUnknown !== undefined) return new RunOutput(options, 0);
    const isEarly = (await sink.mayBeginEarly?.()) === true;
    return new RunOutput(options, isEarly ? Infinity : (sink.mayWaitMs?.() ?? 0));
  }

  batchSettled(): void {
    this.#settled += 1;
    this.#early?.notify();
  }

  async stop(): Promise<void> {
    await this.#early?.stop();
  }

  /** Every batch is settled; resolves when the output is complete. */
  async finish(): Promise<WrittenOutput> {
    this.#isDriven = true;
    const { run, plannedInput } = this.#options;
    if (this.#rows > 0) run.onProgress?.({ stage: 'writing', rows: this.#rows });
    if (this.#early) return { tally: await this.#early.finish(), sink: run.sink };
    const { maxUnknown } = run;
    const suspects =
      maxUnknown && (await isSuspect(maxUnknown, plannedInput)) ? maxUnknown : undefined;
    const sink = suspects?.suspect ?? run.sink;
    return { tally: await this.#write(sink), sink, suspectBeyond: suspects?.percent };
  }

  async #write(sink: Sink, waits?: WriteWaits): Promise<OutcomeTally> {
    const { run, runId, plannedInput, confirm } = this.#options;
    return writeJoined({
      ...plannedInput,
      sink,
      runId,
      confirm,
      ...waits,
      signal: waits ? AbortSignal.any([run.signal, waits.signal]) : run.signal,
      onNotice: (given) => run.onProgress?.(noticed(given)),
      onRows: (rows) => {
        this.#rows = rows;
        // While batches are driven, their progress is reported instead.
        if (this.#isDriven) run.onProgress?.({ stage: 'writing', rows });
      },
    });
  }
}

const rowsAtOnce = 16_384;

/** Whether a type has too many unknown verdicts. The tickets alone show it, before the first row is written. */
async function isSuspect(
  { percent }: MaxUnknown,
  { plan, tickets, entry }: PlannedInput,
): Promise<boolean> {
  const tally = new OutcomeTally(plan);
  const reader = tickets.read();
  try {
    for (let row = 0; row < entry.rows; row += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, entry.rows - row);
      const portion = await reader.next(rows * plan.width);
      tally.add(portion.map((ticket) => plan.book.outcome(ticket)));
    }
  } finally {
    await reader.close();
  }
  return verificationTypes.some((type) => {
    const { buckets, verdicts } = tally.of(type);
    return verdicts.unknown * 100 > buckets.verified * percent;
  });
}

/** What a writing waits for, and what ends it. */
export interface WriteWaits {
  readonly nextSettled: () => Promise<void>;
  /** Resolves when no batch is left to drive: the output must not appear before. */
  readonly allSettled: () => Promise<void>;
  /** Aborted when the rest is not to be written. */
  readonly signal: AbortSignal;
}

/** When early writing is worthwhile although others may wait for what it locks. */
interface LateBeginning {
  readonly mostMs: number;
  /** The remaining time of the batches, estimated from those before. */
  readonly leftMs: () => number;
  readonly clock: Clock;
}

/**
 * Writes an output while batches are still driven and the process mostly waits. It begins with the first
 * settled batch, or with the last ones, and is never ahead of them.
 */
export class EarlyWriter<Result> {
  readonly #write: (waits: WriteWaits) => Promise<Result>;
  readonly #late: LateBeginning | undefined;
  #stop = new AbortController();
  #written: Promise<Result> | undefined;
  readonly #notifier = new Notifier();
  #isOver = false;
  #isStopped = false;

  constructor(write: (waits: WriteWaits) => Promise<Result>, late?: LateBeginning) {
    this.#write = write;
    this.#late = late;
  }

  notify(): void {
    if (this.#isDue()) void this.#begin();
    this.#notifier.notify();
  }

  /** Nothing is left to drive: writes the rest. A late writing that failed since is repeated. */
  async finish(): Promise<Result> {
    this.#isOver = true;
    const before = this.#late && this.#written;
    this.notify();
    if (!before) return this.#begin();
    try {
      return await before;
    } catch (error) {
      if (this.#isStopped) throw error;
      this.#written = undefined;
      this.#stop = new AbortController();
      return this.#begin();
    }
  }

  /** Ends it without an output, which is cleaned up when this resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop.abort();
    // Its error does not matter beside what stopped the run.
    await this.#written?.catch(() => undefined);
  }

  #isDue(): boolean {
    if (!this.#late || this.#isOver) return true;
    return this.#written === undefined && this.#late.leftMs() <= this.#late.mostMs / 2;
  }

  #begin(): Promise<Result> {
    if (this.#written) return this.#written;
    this.#written = this.#write({
      nextSettled: async () => {
        if (this.#isOver) throw new Error('a row is to be written before its batch is settled');
        await this.#notifier.wait(this.#stop.signal);
      },
      allSettled: async () => {
        while (!this.#isOver) await this.#notifier.wait(this.#stop.signal);
      },
      signal: this.#stop.signal,
    });
    // Its error counts at the end: paid results are fetched first.
    this.#written.catch(() => undefined);
    if (this.#late && !this.#isOver) void this.#dropAfter(this.#late);
    return this.#written;
  }

  /** Others have waited long enough for its locks. */
  async #dropAfter({ clock, mostMs }: LateBeginning): Promise<void> {
    const isWritten = new AbortController();
    void this.#written?.catch(() => undefined).then(() => isWritten.abort());
    await clock.sleep(mostMs, isWritten.signal).catch(() => undefined);
    if (!this.#isOver) this.#stop.abort();
  }
}
