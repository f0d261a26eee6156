import { checkOptions } from '../platform/check-options.js';
import { type FilePermissions, exists } from '../platform/files/file-system.js';
import { withMembers } from '../lists/rows/guarded-ends.js';
import type { Sink } from '../lists/rows/sink.js';
import { readStoppedRun, type StoppedRun } from '../engine/runs/reporting/read-status.js';
import type { RunStatus } from '../engine/stores/run-status.js';
import type {
  Estimate,
  RunEnd,
  StoppedSummary,
  Summary,
  SummaryFile,
} from '../engine/summary/summary.js';
import { printable } from '../platform/text/printable.js';
import { ReportFile } from './report-file.js';
import {
  type AdviceOptions,
  type FinishedOptions,
  reportOptionShape,
  type RunReportsOptions,
  type StoppedOptions,
  type TakeJson,
} from './report-options.js';
import { ListFigures } from './page/list-figures.js';
import { adviceOn, endOf, nextAfter } from './run-end.js';
import type { Advice } from './sentences/advice-catalogue.js';

interface StoppedReports {
  /** Its status; `undefined` without state. */
  readonly status: RunStatus | undefined;
  /** Cost of the runs that it replaces; `undefined` where none launched anything. */
  readonly creditsBefore: Summary['credits_before'];
  /** What to do, and what the next run then does. */
  readonly next: string;
  /** Errors of writing summary or report; empty without any. */
  readonly unwritten: readonly unknown[];
}

/**
 * The summary and the report of a run, however it ends: `begin` at its beginning, `finished` or `stopped` at
 * its end. Those of an earlier run are removed at the beginning.
 *
 * @example
 * ```ts
 * const reports = await RunReports.open({ summary: 'summary.json', report: 'report.html' });
 * await reports.begin();
 * try {
 *   await run({
 *     source: 'contacts.csv',
 *     sink: reports.watch(fileSink('verified.csv')),
 *     stateDir: 'verified.csv.sluice',
 *     client,
 *     email: ['email'],
 *     country: 'US',
 *     onSummary: async (summary) => void (await reports.finished(summary)),
 *   });
 * } catch (error) {
 *   const reason = isSluiceError(error) ? error.code : 'defect';
 *   const places = { input: 'contacts.csv', output: 'verified.csv', stateDir: 'verified.csv.sluice' };
 *   await reports.stopped({ exit_code: 1, reason, message: String(error) }, places);
 *   throw error;
 * }
 * ```
 */
export class RunReports {
  readonly #summary: ReportFile | TakeJson | undefined;
  readonly #report: ReportFile | undefined;
  readonly #advice: AdviceOptions;
  readonly #openedMs = performance.now();
  /** Whether there were some of an earlier run: then no process at work has removed them. */
  #wereOld = false;
  /** Whether the summary function was called. */
  #isTaken = false;
  /** Figures from the rows; `undefined` when another process wrote them. */
  #figures: ListFigures | undefined;

  /** @throws ConfigurationError, OutputError when they cannot be written */
  static async open(options: RunReportsOptions): Promise<RunReports> {
    checkOptions(options, reportOptionShape);
    const { summary, report, besides = [] } = options;
    const reports = new RunReports(
      typeof summary === 'string' ? await ReportFile.open(summary, 'summary') : summary,
      report === undefined ? undefined : await ReportFile.open(report, 'report'),
      options,
    );
    await reports.keepApart(besides);
    const [first, second] = reports.#files();
    if (first && second) await second.keepApart([first.path]);
    return reports;
  }

  private constructor(
    summary: ReportFile | TakeJson | undefined,
    report: ReportFile | undefined,
    options: RunReportsOptions,
  ) {
    this.#summary = summary;
    this.#report = report;
    this.#advice = options;
  }

  /** @throws ConfigurationError when one of them would replace another file of the run */
  async keepApart(others: readonly string[]): Promise<void> {
    for (const file of this.#files()) await file.keepApart(others);
  }

  /** The same sink, with its rows counted for the report. */
  watch(sink: Sink): Sink {
    if (!this.#report) return sink;
    return withMembers(sink, {
      open: async (opening) => {
        const figures = new ListFigures(opening);
        const writing = await sink.open(opening);
        this.#figures = figures;
        return withMembers(writing, {
          async write(rows) {
            figures.add(rows);
            await writing.write(rows);
          },
        });
      },
    });
  }

  /** Removes those of an earlier run: if this one is killed, none of another night remain. @throws OutputError */
  async begin(): Promise<void> {
    for (const file of this.#files()) await file.remove();
  }

  /**
   * The same before the run waits for anything. What another process may just have written is left, and the
   * report of a shared run, which may be finished.
   *
   * @internal
   */
  async removeOld(): Promise<void> {
    const files = this.#files().filter((file) => file !== this.#report || !this.#advice.isShared);
    for (const file of files) {
      if (!(await file.isFresh()) && (await file.remove())) this.#wereOld = true;
    }
  }

  /** Exit code and next step of a finished run. */
  endOf(figures: Summary | Estimate, { isEmptied, stoppedBy }: FinishedOptions = {}): RunEnd {
    return endOf(figures, { ...this.#advice, isEmptied, stoppedBy });
  }

  /** The advice at the same end, with codes and fields for programs. */
  adviceOn(
    figures: Summary | Estimate,
    { isEmptied, stoppedBy }: FinishedOptions = {},
  ): readonly Advice[] {
    return adviceOn(figures, { ...this.#advice, isEmptied, stoppedBy });
  }

  /** Writes the result of a run or a dry run. @throws OutputError */
  async finished(
    figures: Summary | Estimate,
    { noMoreOpenThan, ...known }: FinishedOptions = {},
  ): Promise<RunEnd> {
    const end = this.endOf(figures, known);
    const json = jsonOf({ ...figures, ...end });
    if (this.#summary instanceof ReportFile) {
      await this.#summary.writeAfterOutput(json, noMoreOpenThan);
    } else {
      this.#isTaken = true;
      await this.#summary?.(json);
    }
    if (this.#report && !('dry_run' in figures) && !(await this.#isOfWriter(this.#report))) {
      const { reportPage } = await import('./page/report-page.js');
      const page = reportPage({
        summary: figures,
        figures: this.#figures,
        end,
        madeAt: new Date(),
      });
      await this.#report.writeAfterOutput(page, noMoreOpenThan);
    }
    return end;
  }

  /**
   * Writes the result of a stopped run. Where another process works on it (`state_locked`), the reports are
   * that one's. Never throws: the reason of the stop matters more.
   */
  async stopped(
    end: Pick<RunEnd, 'exit_code' | 'reason' | 'message'>,
    options: StoppedOptions,
  ): Promise<StoppedReports> {
    const { input, output, stateDir, store, launchedCredits, maxCredits, noMoreOpenThan } = options;
    const place = store ?? stateDir;
    const run =
      place === undefined ? undefined : await readStoppedRun(place).catch(() => undefined);
    const { message: next } = nextAfter(end, run?.status, { store: store?.name, maxCredits });
    const summary: StoppedSummary & RunEnd = {
      stopped: true,
      input,
      output,
      service: run?.status.service ?? options.service ?? null,
      rows: run?.status.rows ?? null,
      ...end,
      next,
      advice: [next],
      seconds: (performance.now() - this.#openedMs) / 1000,
      credits:
        run?.credits ??
        launchedOnly(launchedCredits, store === undefined && !(await exists(stateDir ?? ''))),
      ...(run?.creditsBefore && { credits_before: run.creditsBefore }),
      batches: run?.batches ?? [],
    };
    const known = { status: run?.status, creditsBefore: run?.creditsBefore, next };
    if (end.reason === 'state_locked' && (await this.#areOfAnother(run !== undefined))) {
      return { ...known, unwritten: [] };
    }
    const written = await Promise.allSettled([
      this.#writeSummary(summary, noMoreOpenThan),
      this.#writeStoppedPage(summary, run?.status, noMoreOpenThan),
    ]);
    const unwritten = written.flatMap((each): readonly unknown[] =>
      each.status === 'rejected' ? [each.reason] : [],
    );
    return { ...known, unwritten };
  }

  async #writeSummary(summary: SummaryFile, mode: FilePermissions | undefined): Promise<void> {
    const json = jsonOf(summary);
    if (this.#summary instanceof ReportFile) await this.#summary.write(json, mode);
    else if (!this.#isTaken) await this.#summary?.(json);
  }

  async #writeStoppedPage(
    summary: StoppedSummary & RunEnd,
    status: RunStatus | undefined,
    mode: FilePermissions | undefined,
  ): Promise<void> {
    if (!this.#report) return;
    const { stoppedPage } = await import('./page/report-page.js');
    await this.#report.write(stoppedPage(summary, status, new Date()), mode);
  }

  /** Whether the reports are those of the process with the lock: it removed them at its beginning, or wrote them. */
  async #areOfAnother(isBegun: boolean): Promise<boolean> {
    const files = this.#files();
    const fresh = await Promise.all(files.map(async (file) => file.isFresh()));
    if (fresh.includes(true)) return true;
    const existing = await Promise.all(files.map(async ({ path }) => exists(path)));
    return isBegun && !this.#wereOld && files.length > 0 && !existing.includes(true);
  }

  /** Whether the report is by the process that wrote the rows: it knows more about them. */
  async #isOfWriter(report: ReportFile): Promise<boolean> {
    return this.#advice.isShared === true && !this.#figures && (await report.isFresh(Infinity));
  }

  #files(): readonly ReportFile[] {
    return [this.#summary, this.#report].filter((file) => file instanceof ReportFile);
  }
}

function jsonOf(summary: SummaryFile): string {
  return printable(`${JSON.stringify(summary, undefined, 2)}\n`);
}

/** @param isAll whether nothing else may have been launched: then a type without launches cost nothing */
function launchedOnly(
  launched: RunStatus['launchedCredits'] | undefined,
  isAll: boolean,
): StoppedRun['credits'] {
  const of = (spent: number): StoppedRun['credits']['email'] =>
    isAll && spent === 0
      ? { spent, refunded: 0, net: 0, source: 'cost_objects' }
      : { spent, refunded: null, net: null, source: 'launched' };
  return { email: of(launched?.email ?? 0), phone: of(launched?.phone ?? 0) };
}
