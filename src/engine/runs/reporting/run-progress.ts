import type { TextColumn } from '../../../lists/rows/sink.js';
import type { FoundFooter, FoundHeader } from '../../../lists/rows/source.js';
import { printKind } from '../../../lists/rows/values/kinds.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import { publish, currentScope, type ObservedEnd } from '../../../platform/observability.js';
import type { RunStatus } from '../../stores/run-status.js';
import { noRows, type RowFigures } from '../../stores/shared/shared-status.js';
import type { VerifyProgress } from '../../streams/progress.js';
import { hasFailed, type Summary } from '../../summary/summary.js';
import { noticeOf, type Notice } from '../../../platform/text/notices.js';

/** An unfinished run that is carried over to a list that has changed, or to other options. */
export interface CarriedRun {
  /** When that run began, as `2026-11-21T03:00:00.000Z`. */
  readonly startedAt: string;
  /** What has changed, in words. */
  readonly change: string;
  /** Batches that may be paid for. */
  readonly paidBatches: number;
  /** Those of them of which at least one address is in tonight's list. */
  readonly usedBatches: number;
  /** Addresses that may be paid for, those among them that an earlier list had brought. */
  readonly paidAddresses: number;
  /** Those of them that are in tonight's list: they are not paid for again. */
  readonly usedAddresses: number;
  /** Addresses of batches that failed after their launch: they may be paid for, and have no results. */
  readonly failedAddresses: number;
  /** Batches that were launched and are waited for. */
  readonly unfinished: number;
}

type BatchStage = Extract<VerifyProgress, { readonly stage: 'batch' }>;

/** What a run reports while it works. */
export type RunProgress =
  /** A header that stands below other lines was found by the rows around it: nobody said where it is. */
  | ({ readonly stage: 'header_found' } & FoundHeader)
  | ({ readonly stage: 'footer_found' } & FoundFooter)
  /** The list has changed since a run that was not finished: what that has paid for is used. */
  | ({ readonly stage: 'carried' } & CarriedRun)
  /** An unfinished run is gone on with, of which something was sent: said before anything else. */
  | { readonly stage: 'going_on'; readonly status: RunStatus }
  | { readonly stage: 'reading'; readonly rows: number; readonly addresses: number }
  | {
      readonly stage: 'read';
      readonly rows: number;
      readonly addresses: number;
      /** Addresses in the batches: those whose results nothing knows yet. */
      readonly toSend: number;
      readonly batches: number;
    }
  | BatchStage
  /** Batches that an earlier process has begun, as they are now: said once, before any `batch`. */
  | { readonly stage: 'recalled'; readonly batches: readonly BatchStage[] }
  /** A stop that `partial` turns into an output with rows that are not finished. */
  | { readonly stage: 'stopped'; readonly error: SluiceError }
  /** Uploads on the service that this run made and could not delete; their names. */
  | { readonly stage: 'left_behind'; readonly names: readonly string[] }
  /** The service has more of the run than the state directory knows: it is a copy, or an older one. */
  | {
      readonly stage: 'older_state';
      /** Whether it was copied or restored: another process may go on with the other copy. */
      readonly isCopied: boolean;
      /** Names of uploads that the state directory did not know, or not as launched; they are resumed. */
      readonly learned: readonly string[];
      /** Names of uploads that were launched beside those that are resumed; they stay. */
      readonly unused: readonly string[];
    }
  /** A shared run of this name had finished before: nothing is read, sent or written now. */
  | {
      readonly stage: 'already_finished';
      /** How messages call the run and its store. */
      readonly name: string;
    }
  /** A column that the output cannot keep as it is: its cells become text. Comes before a batch is sent. */
  | ({ readonly stage: 'text_column' } & TextColumn)
  /** What there is to say: what is waited for, cannot be noticed, or was not done. */
  | ({ readonly stage: 'notice' } & Notice)
  | { readonly stage: 'writing'; readonly rows: number }
  | { readonly stage: 'written'; readonly rows: number };

/**
 * Takes a run's progress, and publishes it on the process's channels, too. What stays on the service is named
 * once, however often its deletion is tried.
 */
export function observedProgress(
  onProgress: ((progress: RunProgress) => void) | undefined,
): (progress: RunProgress) => void {
  const left = new Set<string>();
  return (progress) => {
    if (progress.stage === 'left_behind') {
      const names = progress.names.filter((name) => !left.has(name));
      for (const name of names) left.add(name);
      if (names.length > 0) onProgress?.({ stage: 'left_behind', names });
      return;
    }
    const { run } = currentScope();
    if (run !== undefined && isCounted(progress)) {
      publish('sluice:run:stage', { run, stage: progress.stage, rows: progress.rows });
    }
    if (run !== undefined && progress.stage === 'text_column') {
      const { column, kind, output } = progress;
      publish('sluice:run:column', { run, column, kind: kind && printKind(kind), output });
    }
    onProgress?.(progress);
  };
}

/** What a source or a sink has to say, as progress. */
export function noticed(given: Notice | string): RunProgress {
  return { stage: 'notice', ...noticeOf(given) };
}

/** Batches are reported where they are driven. */
function isCounted(
  progress: RunProgress,
): progress is Extract<
  RunProgress,
  { readonly stage: 'reading' | 'read' | 'writing' | 'written' }
> {
  return ['reading', 'read', 'writing', 'written'].includes(progress.stage);
}

/** What is reported of a run's end. */
export function observedEnd(summary: Summary): ObservedEnd {
  return { rows: summary.rows, hasFailed: hasFailed(summary) };
}

/** How far this process is with the rows of a shared run, and the one that writes them. */
export class SharedRows implements RowFigures {
  readonly #onProgress: (progress: RunProgress) => void;
  #local = noRows;
  #remoteRows = 0;

  /** @param onProgress called with what this process does, and with the rows that another writes */
  constructor(onProgress: (progress: RunProgress) => void) {
    this.#onProgress = onProgress;
  }

  get local(): RowFigures['local'] {
    return this.#local;
  }

  /** Takes in what this process does. */
  readonly note = (progress: RunProgress): void => {
    const { stage } = progress;
    if (stage === 'reading' || stage === 'read') {
      this.#local = { ...this.#local, rowsRead: progress.rows };
    } else if (stage === 'writing' || stage === 'written') {
      this.#local = { ...this.#local, rowsWritten: progress.rows };
    }
    this.#onProgress(progress);
  };

  applyRemote(rowsWritten: number): void {
    if (rowsWritten === this.#remoteRows || this.#local.rowsWritten > 0) return;
    this.#remoteRows = rowsWritten;
    this.#onProgress({ stage: 'writing', rows: rowsWritten });
  }
}
