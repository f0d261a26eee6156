import type { Writable } from 'node:stream';
import {
  exportDiffers,
  type Client,
  type ComparedExport,
  type DoubtfulColumn,
  type RunEnd,
  type RunProgress,
  type RunStatus,
  type ServiceOutage,
  type Summary,
} from '../../index.js';
import { localNotice, type Target } from '../connect.js';
import { describeError, errorEvent, technicalPart } from '../messages/describe-error.js';
import {
  describeDifference,
  isExportWrong,
  FailedBatches,
  HeldUpBatches,
  batchCalled,
} from '../messages/batch-messages.js';
import {
  comparedLines,
  oddLines,
  endLinesOf,
  fewerRowsLines,
  type Said,
  troubleLine,
  verdictOf,
} from '../messages/run-lines.js';
import { sayLines } from './print.js';
import { LiveLines } from './live-lines.js';
import { progressLines, timeText, progressForm, widthOf } from './progress-lines.js';
import { RunFigures } from './run-figures.js';
import {
  batchLine,
  carriedLine,
  doubtfulLines,
  goingOnLine,
  headerLine,
  alreadyFinishedLine,
  olderStateLine,
  readingLine,
  readLine,
  stoppedLine,
  textColumnLine,
} from '../messages/progress-messages.js';
import { endColumns, endLines, endTable } from '../messages/end-table.js';
import { hanging } from './text-table.js';
import { Logger, type LoggerOptions } from './logger.js';
import { counted } from '../../platform/text/shown-numbers.js';

/** So many batches are told of whose exports differ from what was counted. */
const mostDifferences = 5;

/** Plain lines come at most so often; while the service verifies, which may take hours, seldom. */
const lineEveryMs = 5000;
const batchLineEveryMs = 60_000;

export interface ReporterOptions extends LoggerOptions {
  readonly isVerbose: boolean;
  /** Whether it was said that the local service verifies. @default false */
  readonly isTargetSaid?: boolean;
  /** Tells what a terminal shows. @default none */
  readonly env?: NodeJS.ProcessEnv;
}

/** What `sluice verify` says on standard error. Counts only: no cell of the input. */
export class Reporter {
  readonly #out: Writable;
  readonly #options: ReporterOptions;
  readonly #figures = new RunFigures();
  readonly #live: LiveLines | undefined;
  readonly #lines: Logger;
  readonly #failures = new FailedBatches();
  readonly #heldUp = new HeldUpBatches();
  #differences = 0;
  #isToldAgain = false;
  #isTargetSaid: boolean;

  constructor(out: Writable, options: ReporterOptions) {
    this.#out = out;
    this.#isTargetSaid = options.isTargetSaid ?? false;
    this.#options = options;
    if (options.mode === 'live' && options.isJson !== true) {
      const terminal = out as NodeJS.WriteStream;
      this.#live = new LiveLines(terminal, () => {
        const form = progressForm(options.env ?? {}, terminal.columns);
        return progressLines(this.#figures, form, options.clock.now());
      });
    }
    this.#lines = new Logger(out, options, this.#live);
  }

  /** Nobody must take the local service's verdicts for a paid service's. */
  target(target: Target): void {
    if (target.kind !== 'local' || target.isOnPurpose || this.#isTargetSaid) return;
    this.#isTargetSaid = true;
    this.#lines.write({ event: 'local_service', line: localNotice, isWarning: true });
  }

  /** What keeps the requests to a service waiting. */
  readonly trouble = (client: Client, trouble: ServiceOutage): void => {
    this.#lines.say(troubleLine(client, trouble));
  };

  /** Files that are replaced keep their permissions, which the input's own do not give. */
  keptOpen(paths: readonly string[]): void {
    this.#lines.say({
      event: 'kept_open',
      fields: { paths },
      line: `more users may read ${paths.join(', ')} than the input: permissions of files that are there already are kept; close them with chmod go= ${paths.join(' ')}`,
    });
  }

  streaming(): void {
    this.#lines.say({
      event: 'streaming',
      line: 'the rows go to standard output: if this run is stopped, it cannot be resumed (with a file, -o, it can)',
    });
  }

  /** Columns that are likely to be the wrong ones: that costs credits. */
  doubtful(columns: readonly DoubtfulColumn[]): void {
    this.close();
    for (const said of columns.flatMap(doubtfulLines)) this.#lines.write(said);
  }

  /** What a run that keeps nothing has launched so far. */
  launched(): { readonly batches: number; readonly launched: RunStatus['launchedCredits'] } {
    return {
      batches: this.#figures.launchedBatches,
      launched: this.#figures.credits().launched,
    };
  }

  tell(said: readonly Said[]): void {
    for (const each of said) {
      if (each.isUrgent === true || each.isWarning === true) this.#lines.write(each);
      else this.#lines.say(each);
    }
  }

  progress(progress: RunProgress): void {
    this.#figures.note(progress, this.#options.clock.now());
    this.#live?.start();
    switch (progress.stage) {
      case 'header_found':
        this.#lines.write(headerLine(progress));
        return;
      case 'carried':
        this.#lines.say(carriedLine(progress));
        return;
      case 'going_on':
        this.#lines.say(goingOnLine(progress.status));
        return;
      case 'recalled':
        return;
      case 'reading':
        this.#lines.sayNowAndThen(readingLine(progress), lineEveryMs);
        return;
      case 'read':
        this.#lines.say(readLine(progress));
        return;
      case 'batch':
        this.#batch(progress);
        return;
      case 'stopped':
        this.#lines.write(stoppedLine(progress));
        return;
      case 'left_behind':
        this.#lines.write({
          event: 'left_behind',
          fields: { names: progress.names },
          line: `left on the service: ${progress.names.join(', ')}`,
          isWarning: true,
        });
        return;
      case 'older_state':
        // Two processes on copies of one state can pay for each other's batches.
        this.#lines.write(olderStateLine(progress));
        return;
      case 'already_finished':
        this.#isToldAgain = true;
        this.#lines.write(alreadyFinishedLine(progress));
        return;
      case 'text_column':
        this.#lines.say(textColumnLine(progress));
        return;
      case 'notice':
        this.tell([
          { event: 'notice', line: progress.message, isWarning: progress.isWarning === true },
        ]);
        return;
      case 'writing': {
        const { rows } = progress;
        const said = {
          event: 'writing',
          fields: { rows },
          line: `writing: ${counted(rows, 'row')} so far`,
        };
        this.#lines.sayNowAndThen(said, batchLineEveryMs);
        return;
      }
      case 'written': {
        const { rows } = progress;
        // The end of the run says it to people, with the names of the outputs.
        if (this.#isDetailed) {
          const line = `the output is complete: ${counted(rows, 'row')}`;
          this.#lines.say({ event: 'written', fields: { rows }, line });
        }
      }
    }
  }

  /** @param last what is said after all else; `finished` is the last event of a log */
  finished(summary: Summary, end: RunEnd, last: readonly Said[] = []): void {
    this.close();
    this.tell(this.#failures.lines());
    if (this.#options.isJson === true) {
      // The batches have been told one by one.
      const { batches, compared, ...figures } = summary;
      this.tell([...oddLines(summary), ...fewerRowsLines(summary, end.advice), ...last]);
      const { warnings } = this.#lines;
      this.#lines.say({
        event: 'finished',
        fields: {
          ...figures,
          ...end,
          batches: batches.length,
          previous: compared?.previous,
          warnings,
          verdict: verdictOf(summary, warnings),
        },
        line: '',
      });
      return;
    }
    this.#table(summary);
    const isTerminal = this.#options.isTerminal === true;
    this.tell([
      ...comparedLines(summary),
      ...oddLines(summary),
      ...endLinesOf(summary, end, { isTerminal, isToldAgain: this.#isToldAgain }),
      ...last,
    ]);
    this.#verdict(verdictOf(summary, this.#lines.warnings));
  }

  /** The last of all, for whoever reads one line: the subject of a mail. Quiet is wanted where all is well. */
  #verdict(text: string): void {
    const isTerminal = this.#options.isTerminal === true;
    const isUrgent = this.#lines.warnings > 0;
    if (isTerminal && (isUrgent || !this.#options.isQuiet)) sayLines('\n', this.#out);
    this.tell([{ event: 'verdict', line: isTerminal ? `sluice: ${text}` : text, isUrgent }]);
  }

  /** The last line of a run that stopped. */
  stopped(input: string, { exit_code, reason }: Pick<RunEnd, 'exit_code' | 'reason'>): void {
    if (this.#options.isJson === true) return;
    this.#verdict(`${input}: stopped with exit code ${exit_code} (${reason})`);
  }

  /** Says why the run ends. */
  failed(error: unknown): void {
    this.close();
    this.tell(this.#failures.lines());
    const technical = technicalPart(error);
    if (this.#options.isJson !== true) {
      this.#error(describeError(error));
      if (technical !== undefined && this.#options.isVerbose) {
        this.tell([{ event: 'error', line: technical }]);
      }
      return;
    }
    this.#lines.write({ event: 'error', fields: errorEvent(error), line: '' });
  }

  #error(text: string): void {
    const { columns } = this.#out as Partial<NodeJS.WriteStream>;
    const isWrapped = this.#options.isTerminal === true && !text.includes('\n');
    sayLines(`${isWrapped ? hanging(text, widthOf(columns)) : text}\n`, this.#out);
  }

  /** Takes live lines off the terminal; what is said from then on stands below what was said before. */
  close(): void {
    this.#live?.stop();
  }

  #table(summary: Summary): void {
    const columns = endColumns(summary);
    if (this.#options.isTerminal !== true) {
      for (const line of endLines(columns)) this.#lines.say({ event: 'column', line });
      return;
    }
    if (this.#options.isQuiet || columns.length === 0) return;
    const { columns: width } = this.#out as Partial<NodeJS.WriteStream>;
    sayLines(`\n${endTable(columns, widthOf(width))}\n`, this.#out);
  }

  #batch(progress: Extract<RunProgress, { readonly stage: 'batch' }>): void {
    const { known, exported } = progress;
    const reason = known.stage === 'failed' ? known.reason : undefined;
    const said = batchLine(progress);
    const waiting = this.#heldUp.note(progress, this.#options.clock.now());
    if (waiting) this.#lines.say(waiting);
    // What was paid for is not there.
    if (isExportWrong(reason)) this.#lines.write({ ...said, isWarning: true });
    else if (reason !== undefined && !this.#isDetailed) {
      this.#failures.note(reason, said);
    } else if (this.#isDetailed) {
      this.#lines.say(said);
    } else this.#lines.sayNowAndThen(this.#howFar(), batchLineEveryMs);
    if (known.stage === 'exported' && exported && exportDiffers(exported)) {
      this.#difference(batchCalled(progress), exported);
    }
  }

  get #isDetailed(): boolean {
    return this.#options.isVerbose || this.#options.isJson === true;
  }

  /** A log has it in the batch's own line. */
  #difference(called: string, exported: ComparedExport): void {
    this.#differences += 1;
    if (this.#options.isJson === true || this.#differences > mostDifferences) return;
    const said = { event: 'difference', line: `${called}: ${describeDifference(exported)}` };
    // What is paid for was not there.
    this.tell([{ ...said, isWarning: exported.missing !== undefined }]);
    if (this.#differences < mostDifferences) return;
    this.#lines.say({
      event: 'difference',
      line: 'further batches that differ so are in --summary and --report',
    });
  }

  #howFar(): Said {
    const { done, total } = this.#figures.batches;
    const all = total === undefined ? '' : ` of ${total}`;
    const time = timeText(this.#figures, this.#options.clock.now());
    return { event: 'progress', line: `${done}${all} batches done after ${time}` };
  }
}
