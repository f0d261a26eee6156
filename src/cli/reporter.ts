import type { Writable } from 'node:stream';
import { isSluiceError, type RunProgress, type Summary, type TypeSummary } from '../index.js';
import type { Target } from './connect.js';
import { describeError } from './describe-error.js';
import { exitCodeOf } from './exit-code.js';
import { localNotice } from './local-notice.js';
import { printable } from './printable.js';
import { LiveLines } from './progress/live-lines.js';
import { progressLines } from './progress/progress-lines.js';
import { progressForm, type ProgressMode } from './progress/progress-mode.js';
import { RunFigures } from './progress/run-figures.js';

/** Plain lines come at most so often. */
const lineEveryMs = 5000;

export interface ReporterOptions {
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  /** One JSON object a line, for log collectors, instead of texts. @default false */
  readonly isJson?: boolean;
  /** @default 'lines' */
  readonly mode?: ProgressMode;
  /** Tells what a terminal shows. @default none */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Something that happened: a text for people, the same as fields for a log. */
interface Said {
  readonly event: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly line: string;
}

/** What `sluice verify` says on standard error. Counts only: no cell of the input. */
export class Reporter {
  readonly #out: Writable;
  readonly #options: ReporterOptions;
  readonly #figures = new RunFigures();
  readonly #live: LiveLines | undefined;
  #latestLine = '';
  #latestLineMs = performance.now();

  constructor(out: Writable, options: ReporterOptions) {
    this.#out = out;
    this.#options = options;
    if (options.mode !== 'live' || options.isJson === true) return;
    const terminal = out as NodeJS.WriteStream;
    this.#live = new LiveLines(terminal, () => {
      const form = progressForm(options.environment ?? {}, terminal.columns);
      return progressLines(this.#figures, form, performance.now());
    });
  }

  /** Nobody must take the local service's verdicts for a paid service's: said even when quiet. */
  target(target: Target): void {
    if (target.kind !== 'local' || target.isOnPurpose) return;
    this.#write({ event: 'local_service', line: localNotice });
  }

  streaming(): void {
    this.#say({
      event: 'streaming',
      line: 'this run streams: stopped, it cannot be resumed (a file output with -o can)',
    });
  }

  /** A run was interrupted that keeps what it has. */
  resumable(): void {
    this.close();
    this.#say({ event: 'resumable', line: 'run again to go on' });
  }

  /** A run that streams has failed: what it paid is lost, and said even when quiet. */
  paidInVain(): void {
    this.close();
    const { launched } = this.#figures.credits();
    const batches = this.#figures.launchedBatches;
    if (batches === 0) return;
    this.#write({
      event: 'paid_in_vain',
      fields: { batches, email_credits: launched.email, phone_credits: launched.phone },
      line: `launched before it failed: ${batches} batches, ${launched.email} email and ${launched.phone} phone credits before refunds`,
    });
  }

  progress(progress: RunProgress): void {
    this.#figures.note(progress, performance.now());
    this.#live?.start();
    switch (progress.stage) {
      case 'reading': {
        const { rows, addresses } = progress;
        this.#sayNowAndThen({
          event: 'reading',
          fields: { rows, addresses },
          line: `read ${rows} rows, ${addresses} addresses`,
        });
        return;
      }
      case 'read': {
        const { rows, addresses, batches } = progress;
        this.#say({
          event: 'read',
          fields: { rows, addresses, batches },
          line: `read ${rows} rows: ${addresses} addresses in ${batches} batches`,
        });
        return;
      }
      case 'batch':
        this.#batch(progress);
        return;
      case 'stopped': {
        const { message, code } = progress.error;
        this.#write({
          event: 'stopped',
          fields: { code, message },
          line: `stopped: ${message}; what is not finished is written as failed`,
        });
        return;
      }
      case 'left_behind':
        this.#write({
          event: 'left_behind',
          fields: { names: progress.names },
          line: `could not be deleted from the service: ${progress.names.join(', ')}`,
        });
        return;
      case 'older_state':
        this.#olderState(progress);
        return;
      case 'writing': {
        const { rows } = progress;
        this.#sayNowAndThen({ event: 'writing', fields: { rows }, line: `wrote ${rows} rows` });
        return;
      }
      case 'written': {
        const { rows } = progress;
        this.#say({ event: 'written', fields: { rows }, line: `wrote ${rows} rows` });
      }
    }
  }

  finished(summary: Summary): void {
    this.close();
    if (this.#options.isJson === true) {
      // The batches have been told one by one.
      const { batches, ...figures } = summary;
      this.#say({ event: 'finished', fields: { ...figures, batches: batches.length }, line: '' });
      return;
    }
    if (summary.rows_left_out > 0) {
      const line = `left ${summary.rows_left_out} of ${summary.rows} rows out, which are not to be kept`;
      this.#say({ event: 'left_out', line });
    }
    if (summary.suspect) {
      const line = `too many verdicts are unknown: the output is untouched, the rows are in ${summary.output}`;
      this.#write({ event: 'suspect', line });
    }
    for (const type of ['email', 'phone'] as const) {
      const counts = summary[type];
      if (counts) this.#say({ event: type, line: `${type}: ${describeCounts(counts)}` });
      const credits = summary.credits[type];
      if (credits && credits.net !== null) {
        const spent = credits.spent === null ? '' : `${credits.spent} spent, `;
        const refunded = credits.refunded === null ? '' : `${credits.refunded} refunded, `;
        this.#say({
          event: 'credits',
          line: `${type} credits: ${spent}${refunded}${credits.net} net`,
        });
      }
    }
  }

  /**
   * Tells a log why the run ends.
   *
   * @returns whether it was told; people are told by whoever runs the command
   */
  failed(error: unknown): boolean {
    this.close();
    if (this.#options.isJson !== true) return false;
    this.#write({
      event: 'error',
      fields: {
        code: isSluiceError(error) ? error.code : null,
        exit_code: exitCodeOf(error),
        message: describeError(error).replace(/^sluice: /, ''),
      },
      line: '',
    });
    return true;
  }

  /** Takes live lines off the terminal; what is said from then on stands below what was said before. */
  close(): void {
    this.#live?.stop();
  }

  /** Said even when quiet: two processes on copies of one state can pay for each other's batches. */
  #olderState(progress: Extract<RunProgress, { readonly stage: 'older_state' }>): void {
    const { isCopied, learned, unused } = progress;
    const lines = [
      isCopied
        ? 'warning: the state directory was copied or restored; make sure that no other process goes on with this run'
        : 'warning: the service has more of this run than the state directory knows',
    ];
    if (learned.length > 0) {
      lines.push(
        `${learned.length} batches were sent or launched by another process, and are gone on with: ${learned.join(', ')}`,
      );
    }
    if (unused.length > 0) {
      lines.push(`launched as well, and left on the service unused: ${unused.join(', ')}`);
    }
    this.#write({
      event: 'older_state',
      fields: { is_copied: isCopied, learned, unused },
      line: lines.join('; '),
    });
  }

  #batch({ batch, known, name, charge }: Extract<RunProgress, { readonly stage: 'batch' }>): void {
    const uuid = 'uuid' in known ? known.uuid : undefined;
    const reason = known.stage === 'failed' ? known.reason : undefined;
    const called = `batch ${name}${uuid === undefined ? '' : ` (${uuid})`}`;
    const said: Said = {
      event: 'batch',
      fields: {
        name,
        batch_uuid: uuid ?? null,
        type: batch.lane.type,
        country: batch.lane.country,
        addresses: batch.addresses,
        stage: known.stage,
        ...(reason !== undefined && { reason }),
        ...(charge && { charge }),
      },
      line:
        reason === undefined
          ? `${called}: ${known.stage}, ${batch.addresses} addresses`
          : `${called} failed: ${reason}; report it to the service's support`,
    };
    if (reason !== undefined || this.#options.isVerbose || this.#options.isJson === true) {
      this.#say(said);
    }
  }

  /** Where lines are drawn, or none are wanted, there is nothing to be said in between. */
  #sayNowAndThen(said: Said): void {
    if ((this.#options.mode ?? 'lines') !== 'lines') return;
    if (performance.now() - this.#latestLineMs < lineEveryMs) return;
    this.#say(said);
  }

  #say(said: Said): void {
    const isRepeated = said.line !== '' && said.line === this.#latestLine;
    if (this.#options.isQuiet || isRepeated) return;
    this.#latestLine = said.line;
    this.#latestLineMs = performance.now();
    this.#write(said);
  }

  #write({ event, fields, line }: Said): void {
    const text =
      this.#options.isJson === true
        ? JSON.stringify({
            time: new Date().toISOString(),
            event,
            ...(fields ?? { message: line }),
          })
        : `sluice: ${printable(line)}`;
    if (this.#live) this.#live.above(`${text}\n`);
    else this.#out.write(`${text}\n`);
  }
}

function describeCounts({
  addresses,
  duplicates,
  from_history: fromHistory,
  buckets,
  verdicts,
}: TypeSummary): string {
  return [
    `${addresses} addresses (${duplicates} duplicates${fromHistory > 0 ? `, ${fromHistory} from the history` : ''})`,
    `${buckets.verified} verified (${verdicts.valid} valid, ${verdicts.wrong} wrong, ${verdicts.unknown} unknown)`,
    `${buckets.no_result} without result`,
    `${buckets.not_submitted} not submitted`,
    `${buckets.failed} failed`,
  ].join(', ');
}
