import type { Writable } from 'node:stream';
import type {
  Advice,
  Client,
  DoubtfulColumn,
  RunEnd,
  RunProgress,
  RunStatus,
  ServiceOutage,
  Summary,
} from '../../index.js';
import { exportDiffers } from '../../engine/batches/export-check.js';
import type { Target } from '../connect.js';
import { technicalPart } from '../messages/describe-error.js';
import {
  batchMessage,
  type BatchProgress,
  doubtfulMessages,
  FailedBatches,
  HeldUpBatches,
  namesOf,
  progressMessage,
} from '../messages/progress-messages.js';
import { type FieldsOf, message, type Message } from '../messages/catalogue.js';
import {
  adviceMessages,
  comparedMessages,
  endMessages,
  fewerRowsMessages,
  oddMessages,
  outageMessage,
  verdictOf,
} from '../messages/end-messages.js';
import { columnFigures, endColumns, endTable } from '../messages/end-table.js';
import { printLines } from './print.js';
import { exitCodes } from '../process/exit-code.js';
import { LiveLines, progressForm, progressLines, timeText, widthOf } from './progress-lines.js';
import { RunFigures } from './run-figures.js';
import { Logger, type LoggerOptions, messageKey } from './logger.js';

/** Most batches named whose exports differ from the counts. */
const mostDifferences = 5;

/** Plain lines are at least this far apart; while the service verifies, which may take hours, further. */
const lineEveryMs = 5000;
const batchLineEveryMs = 60_000;

/** What advice repeats. */
const doubtOf: Readonly<Partial<Record<string, FieldsOf<'doubtful_column'>['doubt']>>> = {
  missing_plus: 'missing_plus',
  foreign_numbers: 'foreign',
  misread_numbers: 'misread',
};

export interface ReporterOptions extends LoggerOptions {
  readonly isVerbose: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** The messages of `sluice verify` on standard error. Counts only: no cell of the input. */
export class Reporter {
  readonly #out: Writable;
  readonly #options: ReporterOptions;
  readonly #figures = new RunFigures();
  readonly #live: LiveLines | undefined;
  readonly #logger: Logger;
  readonly #failures = new FailedBatches();
  readonly #heldUp = new HeldUpBatches();
  /** Keys of the doubts about columns that were reported. */
  readonly #doubts = new Set<string>();
  #differences = 0;
  /** Whether no service is given: the local one verifies. */
  #isUnmeant = false;

  constructor(out: Writable, options: ReporterOptions) {
    this.#out = out;
    this.#options = options;
    if (options.mode === 'live' && options.isJson !== true) {
      const terminal = out as NodeJS.WriteStream;
      this.#live = new LiveLines(terminal, () => {
        const form = progressForm(options.env ?? {}, terminal.columns);
        return progressLines(this.#figures, form, options.clock.now());
      });
    }
    this.#logger = new Logger(out, options, this.#live);
  }

  /** The local service's verdicts must not pass for a paid service's. */
  target(target: Target): void {
    if (target.kind !== 'local' || target.isOnPurpose || this.#isUnmeant) return;
    this.#isUnmeant = true;
    this.report([message('local_service', {})]);
  }

  readonly outage = (client: Client, outage: ServiceOutage): void => {
    this.#figures.noteOutage(outage, this.#options.clock.now());
    this.report([outageMessage(client, outage)]);
  };

  /** Columns that are likely the wrong ones: that would cost credits. */
  doubtful(columns: readonly DoubtfulColumn[]): void {
    this.close();
    const doubts = columns.flatMap(doubtfulMessages);
    for (const doubt of doubts) this.#doubts.add(messageKey(doubt));
    this.report(doubts);
  }

  #isNoTextReported = false;

  /** Whether the same was said before the run, as a doubt about the column. */
  #isReported({ code, fields: { column } }: Advice): boolean {
    if (code === 'no_text') return this.#isNoTextReported;
    const doubt = doubtOf[code];
    if (doubt === undefined) return false;
    const key = messageKey({ event: 'doubtful_column', fields: { doubt, column } });
    return this.#doubts.has(key) || this.#options.shown?.has(key) === true;
  }

  launched(): {
    readonly isSent: boolean;
    readonly batches: number;
    readonly launched: RunStatus['launchedCredits'];
  } {
    return {
      isSent: this.#figures.sentBatches > 0,
      batches: this.#figures.launchedBatches,
      launched: this.#figures.launchedCredits,
    };
  }

  report(messages: readonly Message[]): void {
    for (const each of messages) this.#logger.log(each);
  }

  progress(progress: RunProgress): void {
    if (progress.stage === 'notice' && progress.code === 'not_utf8') this.#isNoTextReported = true;
    this.#figures.note(progress, this.#options.clock.now());
    this.#live?.start();
    switch (progress.stage) {
      case 'recalled':
        return;
      case 'batch':
        this.#batch(progress);
        return;
      case 'reading':
        this.#logger.logNowAndThen(progressMessage(progress), lineEveryMs);
        return;
      case 'writing':
        this.#logger.logNowAndThen(progressMessage(progress), batchLineEveryMs);
        return;
      case 'written':
        // The lines go before they would be drawn again.
        this.#live?.redraw();
        // People get it at the end of the run, with the names of the outputs.
        if (this.#isDetailed) this.report([progressMessage(progress)]);
        return;
      default:
    }
    this.report([progressMessage(progress)]);
  }

  /** @param last the last line; in a log `finished` is the last event */
  finished(
    summary: Summary,
    end: RunEnd,
    advice: readonly Advice[],
    last: readonly Message[] = [],
  ): void {
    this.close();
    this.report(this.#failures.messages());
    if (this.#options.isJson === true) {
      // The batches have been reported one by one.
      const { batches, compared, ...figures } = summary;
      this.report([
        ...oddMessages(summary),
        ...fewerRowsMessages(summary, advice),
        ...adviceMessages(advice),
        ...last,
      ]);
      const { warnings } = this.#logger;
      const verdict = verdictOf(summary, end.exit_code, warnings, this.#isUnmeant);
      this.report([
        message('finished', {
          ...figures,
          ...end,
          message: end.message ?? verdict,
          batches: batches.length,
          previous: compared?.previous,
          warnings: warnings.length,
          verdict,
        }),
      ]);
      return;
    }
    this.#table(summary);
    const isTerminal = this.#options.isTerminal === true;
    this.report([
      ...comparedMessages(summary),
      ...oddMessages(summary),
      ...endMessages(
        summary,
        end,
        advice.filter((each) => !this.#isReported(each)),
        isTerminal,
      ),
      ...last,
    ]);
    const verdict = verdictOf(summary, end.exit_code, this.#logger.warnings, this.#isUnmeant);
    // With `--quiet` only where something is wrong.
    const isWrong = end.exit_code !== 0 || this.#logger.warnings.length > 0;
    this.#verdict(message('verdict', { verdict }, isWrong ? 'notice' : 'info'));
  }

  /** The last line of all, readable alone: the subject of a mail. */
  #verdict(last: Message): void {
    const isShown = last.severity !== 'info' || this.#options.isQuiet !== true;
    if (this.#options.isTerminal === true && isShown) printLines('\n', this.#out);
    this.report([last]);
  }

  /** The last line of a run that stopped; also with `--quiet`, as the error above it. */
  stopped(input: string, { exit_code, reason }: Omit<FieldsOf<'stopped_verdict'>, 'input'>): void {
    if (this.#options.isJson === true) return;
    // A person has just typed what is wrong.
    if (this.#options.isTerminal === true && exit_code === exitCodes.usage) return;
    this.#verdict(message('stopped_verdict', { input, exit_code, reason }));
  }

  failed(error: unknown): void {
    this.close();
    this.report(this.#failures.messages());
    this.#logger.failed(error);
    const technical = technicalPart(error);
    const isShown = this.#options.isVerbose && this.#options.isJson !== true;
    if (technical !== undefined && isShown)
      this.report([message('error_cause', { message: technical })]);
  }

  /** Removes live lines from the terminal; later output stands below earlier output. */
  close(): void {
    this.#live?.stop();
  }

  /**
   * Live lines come back after the work: they would overwrite a question.
   *
   * @param askAgain shows the question again, below a message that comes meanwhile
   */
  readonly withoutLive = async <Result>(
    work: () => Promise<Result>,
    askAgain: () => void,
  ): Promise<Result> => {
    this.#logger.askAgain = askAgain;
    try {
      return await (this.#live ? this.#live.without(work) : work());
    } finally {
      this.#logger.askAgain = undefined;
    }
  };

  #table(summary: Summary): void {
    const columns = endColumns(summary);
    if (this.#options.isTerminal !== true) {
      this.report(columns.map((column) => message('column_figures', columnFigures(column))));
      return;
    }
    if (this.#options.isQuiet === true || columns.length === 0) return;
    const { columns: width } = this.#out as Partial<NodeJS.WriteStream>;
    printLines(`\n${endTable(columns, widthOf(width))}\n`, this.#out);
  }

  #batch(progress: BatchProgress): void {
    const { state, exported } = progress;
    const reason = state.stage === 'failed' ? state.reason : undefined;
    const batchChange = batchMessage(progress);
    const waiting = this.#heldUp.note(progress, this.#options.clock.now());
    if (waiting) this.report([waiting]);
    if (batchChange.severity === 'warning' || this.#isDetailed) this.report([batchChange]);
    else if (reason !== undefined) this.#failures.note(reason, batchChange);
    else this.#logger.logNowAndThen(this.#howFar(), batchLineEveryMs);
    if (state.stage !== 'exported' || !exported || !exportDiffers(exported)) return;
    this.#difference({ ...namesOf(progress), export: exported });
  }

  get #isDetailed(): boolean {
    return this.#options.isVerbose || this.#options.isJson === true;
  }

  /** A log has it in the batch's event. */
  #difference(fields: FieldsOf<'difference'>): void {
    this.#differences += 1;
    if (this.#options.isJson === true || this.#differences > mostDifferences) return;
    // Paid results were missing.
    const isMissing = fields.export.missing !== undefined;
    this.report([message('difference', fields, isMissing ? 'warning' : 'info')]);
    if (this.#differences === mostDifferences) this.report([message('more_differences', {})]);
  }

  #howFar(): Message {
    const { done, total } = this.#figures.batches;
    const after = timeText(this.#figures, this.#options.clock.now());
    return message('progress', { batches_done: done, batches: total ?? null, after });
  }
}
