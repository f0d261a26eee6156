import {
  describeStart,
  describeStatus,
  printKind,
  type CarriedRun,
  type DoubtfulColumn,
  type RunProgress,
  type RunStatus,
} from '../../index.js';
import { adviceOn, batchCalled } from './batch-messages.js';
import type { Said } from './run-lines.js';
import {
  foreignNumbersSentence,
  missingPlusSentence,
} from '../../report/sentences/address-sentences.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';

type Progress<Stage extends RunProgress['stage']> = Extract<RunProgress, { readonly stage: Stage }>;

export function readingLine({ rows, addresses }: Progress<'reading'>): Said {
  return {
    event: 'reading',
    fields: { rows, addresses },
    line: `read ${counted(rows, 'row')}, ${counted(addresses, 'address')}`,
  };
}

export function readLine({ rows, addresses, batches }: Progress<'read'>): Said {
  return {
    event: 'read',
    fields: { rows, addresses, batches },
    line: `read ${counted(rows, 'row')}: ${counted(addresses, 'address')} in ${counted(batches, 'batch')}`,
  };
}

/** The run stops, and writes what it has. */
export function stoppedLine({ error: { message, code } }: Progress<'stopped'>): Said {
  return {
    event: 'stopped',
    fields: { code, message },
    line: `stopped: ${message}; unfinished addresses are written as failed`,
  };
}

/** A header that was found below other lines. */
export function headerLine({ input, unit, number }: Progress<'header_found'>): Said {
  return {
    event: 'header_found',
    fields: { input, unit, number },
    line: `${input}: took ${unit} ${number} for the header, and what is above it for a title; --skip-rows ${number - 1} confirms that, --skip-rows 0 takes the first`,
    isWarning: true,
  };
}

/** A column that is likely to be the wrong one, or to be read in the wrong way: a line for each doubt. */
export function doubtfulLines(column: DoubtfulColumn): readonly Said[] {
  const { name, type, filled, malformed, others, ambiguous, foreign } = column;
  const fields = {
    column: name,
    type,
    filled,
    malformed,
    others,
    ambiguous,
    ...(foreign && { foreign }),
  };
  return doubtsOf(column).map((doubt) => ({
    event: 'doubtful_column',
    fields: { ...fields, message: doubt },
    line: `column ${JSON.stringify(name)}${doubt}`,
    isWarning: true,
  }));
}

function doubtsOf(column: DoubtfulColumn): readonly string[] {
  const { name, type, filled, malformed, others, ambiguous, foreign } = column;
  const { ambiguousRows: rows, examples } = column;
  const kinds = ['email addresses', 'phone numbers'];
  const [kind, other] = type === 'email' ? kinds : kinds.toReversed();
  const found =
    others > 0 ? `, and ${others} ${others === 1 ? 'looks' : 'look'} like ${other}` : '';
  const isOnlyDoubt = ambiguous === 0 && !foreign;
  return [
    ...(malformed * 2 > filled
      ? [
          ` hardly looks like ${kind}: ${malformed} of ${counted(filled, 'cell')} ${malformed === 1 ? 'does' : 'do'} not${found}${isOnlyDoubt ? '; is it the right column?' : ''}`,
        ]
      : []),
    ...(ambiguous > 0
      ? [`: ${missingPlusSentence({ cells: ambiguous, of: filled, rows, examples })}`]
      : []),
    ...(foreign ? [`: ${foreignNumbersSentence(name, foreign)}`] : []),
  ];
}

/** A column that the output cannot keep as it is. */
export function textColumnLine({ column, kind, output }: Progress<'text_column'>): Said {
  return {
    event: 'text_column',
    fields: { column, kind: kind ? printKind(kind) : null, output },
    line: `column ${JSON.stringify(column)} is written as text: ${output} cannot keep ${kind ? `${printKind(kind)} exactly` : 'values of several kinds in one column'}`,
  };
}

/** What became of a batch. */
export function batchLine(progress: Progress<'batch'>): Said {
  const { batch, known, name, charge, exported } = progress;
  const reason = known.stage === 'failed' ? known.reason : undefined;
  const called = batchCalled(progress);
  return {
    event: 'batch',
    fields: {
      name,
      batch_uuid: ('uuid' in known ? known.uuid : undefined) ?? null,
      type: batch.group.type,
      country: batch.group.country,
      addresses: batch.addresses,
      stage: known.stage,
      ...(reason !== undefined && { reason }),
      ...(charge && { charge }),
      ...(exported && { export: exported }),
    },
    line:
      reason === undefined
        ? `${called}: ${known.stage}, ${counted(batch.addresses, 'address')}`
        : `${called} failed: ${reason}; ${adviceOn(reason, exported)}`,
  };
}

/** A list, or what decides its batches, has changed since a run that was not finished. */
export function carriedLine(carried: CarriedRun): Said {
  const { startedAt, change, paidAddresses, usedAddresses, failedAddresses, unfinished } = carried;
  const { paidBatches, usedBatches } = carried;
  const what = `the list or its options changed since the run of ${describeStart({ startedAt })} (${change})`;
  const used =
    paidAddresses === 0
      ? failedAddresses === 0
        ? 'nothing was paid for it'
        : 'it has no results that were paid for'
      : `${grouped(usedBatches)} of ${counted(paidBatches, 'paid batch')} ${areOrIs(usedBatches)} used again, ${grouped(usedAddresses)} of ${counted(paidAddresses, 'address')} ${areOrIs(usedAddresses)} not paid again`;
  const failed =
    failedAddresses === 0
      ? ''
      : `; its batches with ${counted(failedAddresses, 'address')} failed after their launch, which may be paid`;
  const wait =
    unfinished === 0
      ? ''
      : `; first the run brings ${counted(unfinished, 'launched batch')} to an end`;
  return {
    event: 'carried',
    fields: {
      started_at: startedAt,
      change,
      paid_batches: paidBatches,
      used_batches: usedBatches,
      paid_addresses: paidAddresses,
      used_addresses: usedAddresses,
      failed_addresses: failedAddresses,
      unfinished,
    },
    line: `${what}: ${used}${failed}${wait}`,
  };
}

function areOrIs(count: number): string {
  return count === 1 ? 'is' : 'are';
}

/** A name that is used twice leaves a new list unverified. */
export function alreadyFinishedLine({ name }: Progress<'already_finished'>): Said {
  const line = `${name} had finished before, and nothing was read, sent or written now. Another list, or the same on another day, is another run: give it a name of its own`;
  return { event: 'already_finished', fields: { name }, line, isWarning: true };
}

/** What the service has of a run that its state directory does not know of. */
export function olderStateLine({ isCopied, learned, unused }: Progress<'older_state'>): Said {
  const lines = [
    isCopied
      ? 'the state directory was copied or restored; make sure that no other process continues this run'
      : 'the service has more of this run than was written down of it',
  ];
  if (learned.length > 0) {
    lines.push(
      `sent or launched by another process, and resumed: ${counted(learned.length, 'batch')}: ${learned.join(', ')}`,
    );
  }
  if (unused.length > 0) {
    lines.push(`launched as well, and left on the service unused: ${unused.join(', ')}`);
  }
  return {
    event: 'older_state',
    fields: { is_copied: isCopied, learned, unused },
    line: lines.join('; '),
    isWarning: true,
  };
}

/** What an unfinished run has come to, before it goes on. */
export function goingOnLine(status: RunStatus): Said {
  return {
    event: 'going_on',
    fields: statusFields(status),
    line: `resuming the run of ${describeStart(status)}: ${describeStatus(status).soFar}`,
  };
}

export function statusFields({
  stateDir,
  startedAt,
  batches,
  done,
  running,
  inDoubt,
  launchedCredits,
  doubtfulCredits,
}: RunStatus): Record<string, unknown> {
  return {
    state: stateDir,
    started_at: startedAt,
    batches,
    done,
    running,
    in_doubt: inDoubt,
    email_credits: launchedCredits.email,
    phone_credits: launchedCredits.phone,
    doubtful_email_credits: doubtfulCredits.email,
    doubtful_phone_credits: doubtfulCredits.phone,
  };
}
