import { verificationTypes } from '../../../contract/enums.js';
import type { Sink } from '../../../lists/rows/sink.js';
import { OutcomeTally } from '../../summary/outcome-tally.js';
import type { MaxUnknown, ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { EarlyWriter, type WriteWaits } from './early-writer.js';
import { writeJoined } from './write-output.js';
import { noticed } from '../reporting/run-progress.js';

/** What was written, and where. */
interface WrittenOutput {
  readonly tally: OutcomeTally;
  readonly sink: Sink;
  readonly isSuspect: boolean;
}

interface RunOutputOptions {
  readonly run: ResolvedRun;
  readonly runId: string;
  readonly plannedInput: PlannedInput;
  /** Waited for right before the output takes its place. @default it may at any time */
  readonly confirm?: () => Promise<void>;
}

/** The output of a run: written when all batches are settled, or beside them where its sink allows it. */
export class RunOutput {
  readonly #options: RunOutputOptions;
  readonly #early: EarlyWriter<OutcomeTally> | undefined;
  /** Whether only rows are left to be written. */
  #isDriven = false;
  #rows = 0;
  /** Batches, and parts of them, that were settled while this output waited. */
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
    // Which of two outputs is written is known only when all batches are settled.
    if (maxUnknown !== undefined) return new RunOutput(options, 0);
    const isEarly = (await sink.mayBeginEarly?.()) === true;
    return new RunOutput(options, isEarly ? Infinity : (sink.mayWaitMs?.() ?? 0));
  }

  /** Another batch is settled. */
  batchSettled(): void {
    this.#settled += 1;
    this.#early?.notify();
  }

  /** Drops what was written: the run stops. */
  async stop(): Promise<void> {
    await this.#early?.stop();
  }

  /** Every batch is settled. The output is when this resolves. */
  async finish(): Promise<WrittenOutput> {
    this.#isDriven = true;
    const { run, plannedInput } = this.#options;
    if (this.#rows > 0) run.onProgress?.({ stage: 'writing', rows: this.#rows });
    if (this.#early) return { tally: await this.#early.finish(), sink: run.sink, isSuspect: false };
    const { maxUnknown } = run;
    const suspects =
      maxUnknown && (await isSuspect(maxUnknown, plannedInput)) ? maxUnknown : undefined;
    const sink = suspects?.suspect ?? run.sink;
    return { tally: await this.#write(sink), sink, isSuspect: suspects !== undefined };
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
        // As long as batches are driven, what is told is how they get on.
        if (this.#isDriven) run.onProgress?.({ stage: 'writing', rows });
      },
    });
  }
}

const rowsAtOnce = 16_384;

/**
 * Whether more of the verified cells of a type are unknown than may be. It is known before the first row
 * is written: the tickets alone tell.
 */
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
