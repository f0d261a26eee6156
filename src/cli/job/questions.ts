import {
  ConfigurationError,
  type RunOptions,
  abandonRun,
  describeStatus,
  isSluiceError,
  readRunStatus,
  type RunStatus,
} from '../../index.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { ParsedOptions } from '../command.js';
import { message, type FieldsOf, type Message, sentencesOf } from '../messages/catalogue.js';
import { carriedMessage, leftBehind } from '../messages/progress-messages.js';
import type { Reporter } from '../terminal/reporter.js';
import { counted, describeCredits } from '../../platform/text/shown-numbers.js';
import { keptSentence } from '../messages/sentences.js';
import { connect, type PatienceOption, type Target } from '../connect.js';

/**
 * Reports what is lost with an unfinished run that was paid for, and asks the person at the terminal. Silent
 * for a run that paid nothing.
 *
 * @param what how the run is dropped, such as `--fresh`
 * @throws ConfigurationError when the person refuses, or there is none
 */
export async function confirmDiscard(
  what: FieldsOf<'dropped'>['by'],
  status: RunStatus,
  {
    isAgreed,
    forgets = false,
    person,
    warn,
    signal,
  }: {
    /** Whether nothing else is known of a finished run: the same command would pay again. @default false */
    readonly forgets?: boolean;
    /** Whether `--yes` agreed already: then the loss is only reported. */
    readonly isAgreed: boolean;
    readonly person: Person;
    /** Reports the loss after agreement, also with `--quiet`. */
    readonly warn: (loss: Message) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { isFinished } = status;
  const dropped = droppedMessage(what, status, forgets);
  if (!dropped) return;
  if (isAgreed) {
    warn(dropped);
    return;
  }
  const loss = sentencesOf(dropped).join();
  if (!isInteractive(person))
    throw new ConfigurationError(`${loss}; add --yes to drop it`, {
      option: '--yes',
      fault: 'missing',
    });
  if (await agrees(`${loss}. Drop it?`, person, signal)) return;
  throw new ConfigurationError(
    `stopped; nothing was sent or deleted${isFinished ? '' : ': the same command as before resumes the run'}`,
    { code: 'declined' },
  );
}

/** @returns `undefined` where nothing that was paid for is lost */
export function droppedMessage(
  by: FieldsOf<'dropped'>['by'],
  status: RunStatus,
  forgets = false,
): Message | undefined {
  const { launchedCredits, isFinished, service, startedAt } = status;
  const paid = service === 'local' ? undefined : describeCredits(launchedCredits);
  if (paid === undefined || (isFinished && !forgets)) return undefined;
  return message('dropped', {
    by,
    started_at: startedAt,
    is_finished: isFinished,
    paid,
    so_far: describeStatus(status).soFar,
  });
}

/** What an abandoned run leaves on the service: undeleted and unlisted uploads, and paid batches. */
export function leftMessages(
  left: readonly string[],
  launched: readonly string[],
  unconfirmed: readonly string[],
): readonly Message[] {
  return [
    ...(unconfirmed.length > 0 ? [leftBehind(unconfirmed, false)] : []),
    ...(left.length > 0 ? [message('uploads_left', { names: left.toSorted() })] : []),
    ...(launched.length > 0 ? [message('paid_uploads_kept', { names: launched.toSorted() })] : []),
  ];
}

export interface Dialogue {
  readonly person: Person;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

interface Dropping extends Dialogue {
  readonly target: Target;
  readonly options: ParsedOptions<PatienceOption | 'quiet' | 'yes' | 'delete-batches'>;
}

/**
 * Reports what is lost with the run that `--fresh` drops, and asks. Deletes its batches where
 * `--delete-batches` or the person says so, else reports what stays on the service. Batches of the in-process
 * local service go with the state directory.
 *
 * @throws ConfigurationError when the person at the terminal keeps the run; ApiError when the service cannot
 * be asked
 */
export async function dropOldRun(stateDir: string, dropping: Dropping): Promise<void> {
  const { target, options, person, reporter, signal } = dropping;
  const status = await findStatus(stateDir);
  if (!status) return;
  await confirmDiscard('--fresh', status, {
    // The option is explicit: a nightly command runs without a person.
    isAgreed: options.has('yes') || !isInteractive(person),
    person,
    warn: (loss) => reporter.report([loss]),
    signal,
  });
  if (status.service === 'local' || status.uploads === 0) return;
  const { uploads: batches, service } = status;
  const kept = (why: FieldsOf<'uploads_kept'>['why']): Message =>
    message('uploads_kept', { batches, service, why });
  if (target.kind === 'local' || target.baseUrl !== service) {
    reporter.report([kept('other_service')]);
    return;
  }
  const mayDelete =
    options.has('delete-batches') ||
    (!options.has('quiet') &&
      isInteractive(person) &&
      (await agrees(`${keptSentence(batches, service)}. Delete them?`, person, signal)));
  if (!mayDelete) {
    reporter.report([kept('not_asked')]);
    return;
  }
  try {
    await deleteUploads(stateDir, dropping);
  } catch (error) {
    if (!isSluiceError(error, 'state_mismatch')) throw error;
    reporter.report([kept('other_account')]);
  }
}

async function deleteUploads(
  stateDir: string,
  { target, options, reporter, signal }: Dropping,
): Promise<void> {
  const connection = await connect(target, options, undefined, { onOutage: reporter.outage });
  try {
    const { deleted, left, launched, unconfirmed } = await abandonRun({
      stateDir,
      client: connection.client,
      exportedToo: true,
      signal,
    });
    reporter.report([
      message('uploads_deleted', { batches: deleted }),
      ...leftMessages(left, launched, unconfirmed),
    ]);
  } finally {
    await connection.close();
  }
}

/** An unreadable run is dropped all the same. */
export async function findStatus(stateDir: string): Promise<RunStatus | undefined> {
  return readRunStatus(stateDir).catch(() => undefined);
}

export function preflightOf(
  options: ParsedOptions<'preflight' | 'yes'>,
  { person, reporter, signal }: Dialogue,
): { readonly onPrepared?: RunOptions['onPrepared'] } {
  if (!options.has('preflight')) return {};
  const isAsked = !options.has('yes');
  if (isAsked && !isInteractive(person)) {
    throw new ConfigurationError(
      '--preflight needs a terminal, where it asks before it pays: add --yes to pay without being asked, or count first with --dry-run; nothing was sent',
      { option: '--yes', fault: 'missing' },
    );
  }
  return {
    onPrepared: async (preflight) => {
      reporter.report([message('prepared', preflight)]);
      if (!isAsked) return true;
      return agrees('Verify them, and pay for them?', person, signal);
    },
  };
}

/** Among so many cells at least one should look right. */
const judgedCells = 10;

/**
 * Handles columns that hardly look like their type: warns, and asks the person at the terminal. Without a
 * person, a column without a single matching cell ends the run, and so does one that is of another country.
 */
export function agreeToDoubts(
  options: ParsedOptions<'dry-run' | 'yes'>,
  isAgreed: boolean,
  { person, reporter, signal }: Dialogue,
): NonNullable<RunOptions['onDoubtfulColumns']> {
  return async (columns) => {
    reporter.doubtful(columns);
    if (isAgreed || options.has('yes') || options.has('dry-run')) return true;
    if (isInteractive(person)) return agrees('Verify them all the same?', person, signal);
    return columns.every((column) => {
      const { filled, malformed, isOfOtherCountry = false } = column;
      return (malformed < filled || filled < judgedCells) && !isOfOtherCountry;
    });
  };
}

/** Whether to carry over a run of which not all paid results are useful. Without a person: yes. */
export function askAboutCarrying(
  options: ParsedOptions<'yes'>,
  { person, reporter, signal }: Dialogue,
): { readonly onCarry?: RunOptions['onCarry'] } {
  if (options.has('yes') || !isInteractive(person)) return {};
  return {
    onCarry: async (carried) => {
      reporter.report([carriedMessage(carried)]);
      const unused = carried.paidAddresses - carried.usedAddresses;
      const question = `${counted(unused, 'paid result')} of that run would be lost, which --history FILE keeps. Go on?`;
      return agrees(question, person, signal);
    },
  };
}
