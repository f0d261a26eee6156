import {
  describeStatus,
  printKind,
  type CarriedRun,
  type DoubtfulColumn,
  type RunProgress,
  type RunStatus,
} from '../../index.js';
import { namesOf } from './batch-messages.js';
import { isExportWrong } from './batch-sentences.js';
import { type FieldsOf, message, type Message } from './message.js';

type Progress<Stage extends RunProgress['stage']> = Extract<RunProgress, { readonly stage: Stage }>;

/** A column that is likely to be the wrong one, or to be read in the wrong way: a message for each doubt. */
export function doubtfulMessages({
  name,
  ambiguousRows,
  ...column
}: DoubtfulColumn): readonly Message[] {
  const { malformed, filled, ambiguous, foreign } = column;
  const doubts = {
    malformed: malformed * 2 > filled,
    missing_plus: ambiguous > 0,
    foreign: foreign !== undefined,
  };
  return (Object.keys(doubts) as (keyof typeof doubts)[])
    .filter((doubt) => doubts[doubt])
    .map((doubt) =>
      message('doubtful_column', { ...column, column: name, foreign, rows: ambiguousRows, doubt }),
    );
}

/** A column that the output cannot keep as it is. */
export function textColumnMessage({ column, kind, output }: Progress<'text_column'>): Message {
  return message('text_column', { column, kind: kind ? printKind(kind) : null, output });
}

/** What became of a batch. */
export function batchMessage(progress: Progress<'batch'>): Message {
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
  // What was paid for is not there.
  return message('batch', fields, isExportWrong(reason) ? 'warning' : 'info');
}

/** A list, or what decides its batches, has changed since a run that was not finished. */
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
