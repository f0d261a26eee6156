import type { TextColumn } from '../../../lists/rows/sink.js';
import type { FoundFooter, FoundHeader } from '../../../lists/rows/source.js';
import { printKind } from '../../../lists/rows/values/kinds.js';
import type { SluiceError } from '../../../platform/errors/sluice-error.js';
import { publish, currentScope, type ObservedEnd } from '../../../platform/observability.js';
import type { RunStatus } from '../../stores/run-status.js';
import { noRows, type RowFigures } from '../../stores/shared/shared-status.js';
import type { BatchStage } from '../../batches/claim.js';
import { hasFailed, type Summary } from '../../summary/summary.js';
import { noticeOf, type Notice } from '../../../platform/text/notices.js';

/** An unfinished run that is carried over to a changed list, or to other options. */
export interface CarriedRun {
  /** When that run began, as `2026-11-21T03:00:00.000Z`. */
  readonly startedAt: string;
  /** The change, as text. */
  readonly change: string;
  readonly paidBatches: number;
  /** Those with at least one address in the current list. */
  readonly usedBatches: number;
  /** Addresses that may be paid for, including those carried over from earlier lists. */
  readonly paidAddresses: number;
  /** Those in the current list: they are not paid for again. */
  readonly usedAddresses: number;
  /** Addresses of batches that failed after their launch: possibly paid, without results. */
  readonly failedAddresses: number;
  /** Launched batches that are still awaited. */
  readonly unfinished: number;
  /** Whether a history keeps the others; without one they are lost when the run ends. */
  readonly hasHistory: boolean;
}

/** What a run reports as it works. */
export type RunProgress =
  /** The header was found below other lines, by the rows around it. */
  | ({ readonly stage: 'header_found' } & FoundHeader)
  | ({ readonly stage: 'footer_found' } & FoundFooter)
  /** The list has changed since an unfinished run: its paid results are used. */
  | ({ readonly stage: 'carried' } & CarriedRun)
  /** An unfinished run of which something was sent continues: reported before anything else. */
  | { readonly stage: 'going_on'; readonly status: RunStatus }
  | { readonly stage: 'reading'; readonly rows: number; readonly addresses: number }
  | {
      readonly stage: 'read';
      readonly rows: number;
      readonly addresses: number;
      /** Addresses in the batches: those without an earlier result. */
      readonly toSend: number;
      readonly batches: number;
    }
  | BatchStage
  /** The current states of batches that an earlier process began: reported once, before any `batch`. */
  | { readonly stage: 'recalled'; readonly batches: readonly BatchStage[] }
  /** A stop after which `partial` writes unfinished rows. */
  | { readonly stage: 'stopped'; readonly error: SluiceError }
  /** Names of this run's uploads that were not deleted from the service. */
  | {
      readonly stage: 'left_behind';
      readonly names: readonly string[];
      /** Whether they are there: if not, their answers were lost, and they may be. */
      readonly isConfirmed: boolean;
    }
  /** The service has more of the run than the state directory, which is a copy or an older one. */
  | {
      readonly stage: 'older_state';
      /** Whether it was copied or restored: another process may continue with the other copy. */
      readonly isCopied: boolean;
      /** Names of uploads unknown to the state directory, or unknown as launched; they are resumed. */
      readonly learned: readonly string[];
      /** Names of launched uploads beside the resumed ones; they stay. */
      readonly unused: readonly string[];
    }
  /** A shared run of this name had finished before: nothing is read, sent or written. */
  | {
      readonly stage: 'already_finished';
      /** The run and its store in messages. */
      readonly name: string;
    }
  /** A column whose type the output cannot keep: its cells become text. Reported before a batch is sent. */
  | ({ readonly stage: 'text_column' } & TextColumn)
  /** A notice: something is awaited, cannot be checked, or was not done. */
  | ({ readonly stage: 'notice' } & Notice)
  | { readonly stage: 'writing'; readonly rows: number }
  | { readonly stage: 'written'; readonly rows: number };

/** Publishes a run's progress on the process's channels, too. What stays on the service is named once. */
export function observedProgress(
  onProgress: ((progress: RunProgress) => void) | undefined,
): (progress: RunProgress) => void {
  const left = new Set<string>();
  return (progress) => {
    if (progress.stage === 'left_behind') {
      const names = progress.names.filter((name) => !left.has(name));
      for (const name of names) left.add(name);
      if (names.length > 0) onProgress?.({ ...progress, names });
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

export function noticed(given: Notice | string): RunProgress {
  return { stage: 'notice', ...noticeOf(given) };
}

/** Batches are published where they are driven. */
function isCounted(
  progress: RunProgress,
): progress is Extract<
  RunProgress,
  { readonly stage: 'reading' | 'read' | 'writing' | 'written' }
> {
  return ['reading', 'read', 'writing', 'written'].includes(progress.stage);
}

export function observedEnd(summary: Summary): ObservedEnd {
  return { rows: summary.rows, hasFailed: hasFailed(summary) };
}

/** Rows that this process of a shared run has read and written, and that the writing process has. */
export class SharedRows implements RowFigures {
  readonly #onProgress: (progress: RunProgress) => void;
  #local = noRows;
  #remoteRows = 0;

  /** @param onProgress called with this process's progress, and with rows that another writes */
  constructor(onProgress: (progress: RunProgress) => void) {
    this.#onProgress = onProgress;
  }

  get local(): RowFigures['local'] {
    return this.#local;
  }

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
