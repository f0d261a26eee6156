import {
  type BatchState,
  type CarriedRun,
  describeStatus,
  type DoubtfulColumn,
  type RunProgress,
  type RunStatus,
} from '../../index.js';
import { printKind } from '../../lists/rows/values/kinds.js';
import { isExportWrong } from '../../engine/batches/export-check.js';
import type { BatchNames, WaitingReason } from './sentences.js';
import { type FieldsOf, message, type Message } from './catalogue.js';

export type BatchProgress = Extract<RunProgress, { readonly stage: 'batch' }>;

/** A message for each doubt about a column: likely the wrong one, or misread. */
export function doubtfulMessages({
  name,
  ambiguousRows,
  ambiguousCountry,
  needsPlus,
  inHistory,
  ...column
}: DoubtfulColumn): readonly Message[] {
  const { malformed, filled, ambiguous, foreign, unfit, misread } = column;
  const doubts = {
    // Numbers of another country are not in the wrong column.
    malformed: malformed * 2 > filled && misread === undefined,
    missing_plus: ambiguous > 0,
    // One line has both.
    foreign: foreign !== undefined && misread === undefined,
    unfit: unfit !== undefined,
    misread: misread !== undefined,
    paid_abroad: inHistory !== undefined,
  };
  return (Object.keys(doubts) as (keyof typeof doubts)[])
    .filter((doubt) => doubts[doubt])
    .map((doubt) =>
      message('doubtful_column', {
        ...column,
        column: name,
        foreign,
        unfit,
        misread,
        in_history: inHistory,
        rows: ambiguousRows,
        needs_plus: needsPlus,
        ambiguous_country: ambiguousCountry,
        doubt,
      }),
    );
}

function pick<Value, Name extends keyof Value>(
  value: Value,
  ...names: readonly Name[]
): Pick<Value, Name> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}

export function progressMessage(
  progress: Exclude<RunProgress, { readonly stage: 'batch' | 'recalled' }>,
): Message {
  switch (progress.stage) {
    case 'header_found':
      return message('header_found', pick(progress, 'input', 'unit', 'number'));
    case 'footer_found':
      return message('footer_found', {
        ...pick(progress, 'input', 'unit', 'count'),
        first: progress.first,
      });
    case 'carried':
      return carriedMessage(progress);
    case 'going_on':
      return message('going_on', statusFields(progress.status));
    case 'reading':
      return message('reading', pick(progress, 'rows', 'addresses'));
    case 'read':
      return message('read', pick(progress, 'rows', 'addresses', 'batches'));
    case 'stopped':
      return message('stopped', pick(progress.error, 'code', 'message'));
    case 'left_behind':
      return leftBehind(progress.names, progress.isConfirmed);
    case 'older_state': {
      // Two processes on copies of one state can pay for each other's batches.
      const { isCopied, learned, unused } = progress;
      return message('older_state', { is_copied: isCopied, learned, unused });
    }
    case 'already_finished':
      return message('already_finished', { name: progress.name });
    case 'text_column': {
      const { column, kind, output } = progress;
      return message('text_column', { column, kind: kind ? printKind(kind) : null, output });
    }
    case 'notice': {
      const { code, fields, message: text, isWarning = false } = progress;
      const severity = isWarning ? 'warning' : 'info';
      return message('notice', { ...fields, code, message: text }, severity);
    }
    case 'writing':
    case 'written':
      return message(progress.stage, { rows: progress.rows });
  }
}

export function batchMessage(progress: BatchProgress): Message {
  const { batch, state, charge, exported } = progress;
  const reason = state.stage === 'failed' ? state.reason : undefined;
  const fields = {
    ...namesOf(progress),
    type: batch.group.type,
    country: batch.group.country,
    addresses: batch.addresses,
    stage: state.stage,
    reason,
    charge,
    export: exported,
  };
  // Paid results are missing.
  const isLoud = isExportWrong(reason) || reason === 'launch_lost';
  return message('batch', fields, isLoud ? 'warning' : 'info');
}

/** The list, or what decides its batches, has changed since an unfinished run. */
export function carriedMessage(carried: CarriedRun): Message {
  return message('carried', {
    started_at: carried.startedAt,
    change: carried.change,
    paid_batches: carried.paidBatches,
    used_batches: carried.usedBatches,
    paid_addresses: carried.paidAddresses,
    used_addresses: carried.usedAddresses,
    failed_addresses: carried.failedAddresses,
    unfinished: carried.unfinished,
    has_history: carried.hasHistory,
  });
}

export function statusFields(status: RunStatus): FieldsOf<'so_far'> {
  const { launchedCredits, doubtfulCredits } = status;
  return {
    state: status.stateDir,
    started_at: status.startedAt,
    batches: status.batches,
    done: status.done,
    running: status.running,
    in_doubt: status.inDoubt,
    email_credits: launchedCredits.email,
    phone_credits: launchedCredits.phone,
    doubtful_email_credits: doubtfulCredits.email,
    doubtful_phone_credits: doubtfulCredits.phone,
    so_far: describeStatus(status).soFar,
  };
}

export function namesOf({ name, state }: BatchProgress): BatchNames {
  return { name, batch_uuid: ('uuid' in state ? state.uuid : undefined) ?? null };
}

interface Failures {
  readonly count: number;
  readonly latest: Message;
  /** Of the first few: support asks for them. */
  readonly uuids: readonly string[];
}

const mostNamed = 3;

/** Failed batches, except for wrong exports: reported at the end by reason. */
export class FailedBatches {
  readonly #byReason = new Map<string, Failures>();

  note(reason: string, latest: Message): void {
    const { count = 0, uuids = [] } = this.#byReason.get(reason) ?? {};
    const uuid = latest.fields['batch_uuid'];
    const isNamed = typeof uuid === 'string' && uuids.length < mostNamed;
    this.#byReason.set(reason, {
      count: count + 1,
      latest,
      uuids: isNamed ? [...uuids, uuid] : uuids,
    });
  }

  messages(): readonly Message[] {
    return [...this.#byReason].map(([reason, { count, latest, uuids }]) =>
      count === 1
        ? latest
        : message('batches_failed', { reason, batches: count, batch_uuids: uuids }),
    );
  }
}

/** Unexpected answers in a row after which a batch counts as held up: some seconds with the usual waits. */
const inARow = 3;
/** How often the same cause is reported, whatever batch it holds up. */
const againAfterMs = 60_000;

/** Batches that wait because the service answers unexpectedly. */
export class HeldUpBatches {
  readonly #reportedAtMs = new Map<WaitingReason, number>();

  /** @returns the message to print now: once a minute at most for each cause */
  note(progress: BatchProgress, nowMs: number): Message | undefined {
    const cause = heldUpBy(progress.state);
    if (cause === undefined) return undefined;
    const reportedAtMs = this.#reportedAtMs.get(cause) ?? -Infinity;
    if (nowMs - reportedAtMs < againAfterMs) return undefined;
    this.#reportedAtMs.set(cause, nowMs);
    return message('batch_waiting', {
      ...namesOf(progress),
      stage: progress.state.stage,
      reason: cause,
    });
  }
}

function heldUpBy(state: BatchState): WaitingReason | undefined {
  if ('misses' in state && state.misses >= inARow) return 'not_found';
  switch (state.stage) {
    case 'planned':
      return state.uploads >= inARow ? 'not_uploaded' : undefined;
    case 'uploading':
      return state.looks >= inARow ? 'not_uploaded' : undefined;
    case 'uploaded':
      return state.prepares >= inARow ? 'not_prepared' : undefined;
    case 'parsing':
    case 'ready':
    case 'launching':
      return state.launches >= inARow ? 'not_launched' : undefined;
    case 'done':
      return state.broken >= inARow ? 'broken_export' : undefined;
    default:
      return undefined;
  }
}

/** An upload that the list was read for, and does not show, is most likely not there. */
export function leftBehind(names: readonly string[], isConfirmed: boolean): Message {
  const fields = { names, is_confirmed: isConfirmed };
  return message('left_behind', fields, isConfirmed ? 'warning' : 'notice');
}
