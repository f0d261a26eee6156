import {
  ConfigurationError,
  type RunOptions,
  abandonRun,
  describeStatus,
  findRuns,
  isSluiceError,
  readRunStatus,
  type RunStatus,
  type Sink,
} from '../../index.js';
import { optionsOfRun } from '../../engine/runs/reporting/read-status.js';
import { showLocation } from '../../lists/location.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { ParsedOptions } from '../command.js';
import { message, type FieldsOf, type Message, sentencesOf } from '../messages/catalogue.js';
import { carriedMessage } from '../messages/progress-messages.js';
import type { Reporter } from '../terminal/reporter.js';
import { counted, describeCredits } from '../../platform/text/shown-numbers.js';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  asWritten,
  isDatabase,
  type Location,
  nearHistory,
  pathOf,
} from '../endpoints/locations.js';
import { emptyHistorySentence, keptSentence } from '../messages/sentences.js';
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
    /**
     * Whether the record is all that is known of a finished run, so that the same command would pay again.
     * @default false
     */
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

/** What an abandoned run leaves on the service: undeleted uploads, and paid batches, in the order of the list. */
export function leftMessages(
  left: readonly string[],
  launched: readonly string[],
): readonly Message[] {
  return [
    ...(left.length > 0 ? [message('uploads_left', { names: left.toSorted() })] : []),
    ...(launched.length > 0 ? [message('paid_uploads_kept', { names: launched.toSorted() })] : []),
  ];
}

interface Dropping {
  readonly target: Target;
  readonly options: ParsedOptions<PatienceOption | 'quiet' | 'yes' | 'delete-batches'>;
  readonly person: Person;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
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
      (await agrees(`${keptSentence({ batches, service })}. Delete them?`, person, signal)));
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
    const { deleted, left, launched } = await abandonRun({
      stateDir,
      client: connection.client,
      exportedToo: true,
      signal,
    });
    reporter.report([
      message('uploads_deleted', { batches: deleted }),
      ...leftMessages(left, launched),
    ]);
  } finally {
    await connection.close();
  }
}

/** An unreadable run is dropped all the same. */
export async function findStatus(stateDir: string): Promise<RunStatus | undefined> {
  return readRunStatus(stateDir).catch(() => undefined);
}

export type PaidOutput = Omit<FieldsOf<'paid_again'>, 'addresses' | 'is_kept'>;

/**
 * The output that a new run would replace or update, and pay for the same list again. Its history has nothing
 * of the list.
 *
 * @returns `undefined` where there is none, or the service is free
 */
export async function findPaidOutput(
  to: Location,
  sink: Sink,
  target: Target,
  options: ParsedOptions<'history' | 'into' | 'key'>,
): Promise<PaidOutput | undefined> {
  if (target.kind === 'local') return undefined;
  const path = options.text('history');
  const near = path === undefined ? undefined : nearHistory(path);
  const kept = {
    history: path === undefined ? null : showLocation(path),
    meant: near === undefined ? null : showLocation(near),
  };
  if (isDatabase(to)) {
    // Without a key, a table that is there is refused.
    const isWritten = options.has('key') && (await sink.hasWritten?.().catch(() => false)) === true;
    return isWritten
      ? { output: options.text('into') ?? '', is_updated: true, ...kept }
      : undefined;
  }
  const file = pathOf(to);
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || !(found?.isFile() === true || found?.isDirectory() === true)) {
    return undefined;
  }
  return { output: showLocation(file), is_updated: false, ...kept };
}

/** Also with `--quiet`: a person who repeats a finished command may expect it to resume. */
export function paidAgain(paid: PaidOutput, addresses: number): Message {
  const severity = paid.history === null ? 'notice' : 'warning';
  return message('paid_again', { ...paid, addresses, is_kept: undefined }, severity);
}

export function isAskedAboutPaid(
  options: ParsedOptions<'yes' | 'preflight' | 'retry-failed'>,
): boolean {
  return !(['yes', 'preflight', 'retry-failed'] as const).some((name) => options.has(name));
}

/**
 * Asks the person at the terminal, before anything is read, whether to write an output again and pay again.
 * Not asked where an unfinished run is resumed or dropped.
 *
 * @throws ConfigurationError when the person refuses
 */
export async function agreeToPayAgain(
  findPaid: () => Promise<PaidOutput | undefined>,
  stateDir: string | undefined,
  person: Person,
  signal: AbortSignal,
): Promise<void> {
  const paid = isInteractive(person) ? await findPaid() : undefined;
  if (!paid) return;
  const { output, is_updated: isUpdated, history, meant } = paid;
  const status = stateDir === undefined ? undefined : await findStatus(stateDir);
  // Paid results that were not fetched are collected first.
  if (status && (!status.isFinished || status.retry.exports > 0)) return;
  const kept = history === null ? '' : ` ${emptyHistorySentence(history, meant)}.`;
  const question = `${output} ${isUpdated ? 'has results' : 'is there'}.${kept} This is a new run: it ${isUpdated ? 'updates them' : 'replaces it'}, and pays for all its addresses, also those that are paid already. Start it?`;
  if (await agrees(question, person, signal)) return;
  throw new ConfigurationError(
    `stopped; nothing was sent, and ${output} is untouched: ${isUpdated ? '' : 'name another output (-o), or '}${history === null ? 'add --history <file>' : 'name the history that has its results (--history)'}, so that a run pays only for what is new`,
    { code: 'declined' },
  );
}

/**
 * Unfinished runs of the list in this folder and beside the output that have paid for some of it, and which a
 * run with this state directory does not continue.
 */
export async function findOtherRuns(
  list: string,
  stateDir: string | undefined,
  cwd: string,
): Promise<readonly RunStatus[]> {
  const beside = stateDir === undefined ? [] : [dirname(stateDir)];
  const folders = new Map([cwd, ...beside].map((folder) => [resolve(folder), folder]));
  const found = await Promise.all(
    [...folders.values()].map(async (folder) => findRuns(folder).catch(() => [])),
  );
  return found.flat().flatMap((each) => {
    if (!('status' in each)) return [];
    const { status } = each;
    const { isFinished, input, service, launchedCredits } = status;
    const isOther = stateDir === undefined || resolve(status.stateDir) !== resolve(stateDir);
    const isPaid = service !== 'local' && describeCredits(launchedCredits) !== undefined;
    return isOther && isPaid && !isFinished && input === list ? [status] : [];
  });
}

/** What such runs have paid for the same columns: a run with another output pays for it again. */
export async function paidElsewhere(
  list: string,
  { stateDir, cwd }: { readonly stateDir: string | undefined; readonly cwd: string },
  target: Target,
  options: ParsedOptions<'email' | 'phone'>,
): Promise<readonly Message[]> {
  const known = stateDir === undefined ? undefined : await findStatus(stateDir);
  if (target.kind === 'local' || known?.isFinished === false) return [];
  const columns = new Set(namesOf([...options.texts('email'), ...options.texts('phone')]));
  const messages: Message[] = [];
  for (const run of await findOtherRuns(list, stateDir, cwd)) {
    const { email, phone } = (await optionsOfRun(run.stateDir)) ?? {};
    const isSame = namesOf([email, phone].flat()).some((name) => columns.has(name));
    if (!isSame || run.service !== target.baseUrl) continue;
    messages.push(
      message('paid_elsewhere', {
        state: asWritten(cwd, run.stateDir),
        output: asWritten(cwd, run.output),
        started_at: run.startedAt,
        paid: describeCredits(run.launchedCredits) ?? '',
      }),
    );
  }
  return messages;
}

function namesOf(columns: readonly unknown[]): readonly string[] {
  return columns.flatMap((name) => (typeof name === 'string' ? [name.trim().toLowerCase()] : []));
}

/**
 * Reports what is about to be paid for again, and asks the person at the terminal.
 *
 * @throws ConfigurationError when the person refuses
 */
export async function agreeBesideOthers(
  others: readonly Message[],
  isAgreed: boolean,
  person: Person,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<void> {
  reporter.report(others);
  if (others.length === 0 || isAgreed || !isInteractive(person)) return;
  if (await agrees('Start this run, and pay for them again?', person, signal)) return;
  throw new ConfigurationError('stopped; nothing was sent', { code: 'declined' });
}

/** Reported once the list is read and before anything is sent, unless an unfinished run is resumed. */
export function withPaidAgain(
  onProgress: RunOptions['onProgress'],
  paid: () => PaidOutput | undefined,
  report: (text: Message) => void,
): NonNullable<RunOptions['onProgress']> {
  let isResumed = false;
  return (progress) => {
    onProgress?.(progress);
    if (progress.stage === 'going_on') isResumed = true;
    const found = paid();
    if (progress.stage !== 'read' || isResumed || progress.toSend === 0 || !found) return;
    if (found.history !== null && progress.toSend < progress.addresses) return;
    report(paidAgain(found, progress.toSend));
  };
}

/** @throws ConfigurationError when there is nobody to ask */
export function preflightOf(
  options: ParsedOptions<'preflight' | 'yes'>,
  person: Person,
  {
    reporter,
    signal,
  }: { readonly reporter: Pick<Reporter, 'report'>; readonly signal: AbortSignal },
): { readonly onPrepared?: RunOptions['onPrepared'] } {
  if (!options.has('preflight')) return {};
  const isAsked = !options.has('yes');
  if (isAsked && !isInteractive(person)) {
    throw new ConfigurationError(
      '--preflight needs a terminal, where it asks before the launch: add --yes to launch without being asked, or count first with --dry-run; nothing was sent',
      { option: '--yes', fault: 'missing' },
    );
  }
  return {
    onPrepared: async (preflight) => {
      reporter.report([message('prepared', preflight)]);
      if (!isAsked) return true;
      return agrees('Launch them?', person, signal);
    },
  };
}

/** Among so many cells at least one should look right. */
const judgedCells = 10;

/**
 * Handles columns that hardly look like their type: warns, and asks the person at the terminal. Without a
 * person, a column without a single matching cell ends the run.
 */
export function askAboutColumns(
  options: ParsedOptions<'dry-run' | 'yes'>,
  person: Person,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal: AbortSignal },
): NonNullable<RunOptions['onDoubtfulColumns']> {
  return async (columns) => {
    reporter.doubtful(columns);
    if (options.has('yes') || options.has('dry-run')) return true;
    if (isInteractive(person)) return agrees('Verify them all the same?', person, signal);
    return columns.every(({ filled, malformed }) => malformed < filled || filled < judgedCells);
  };
}

/** Whether to carry over a run of which not all paid results are useful. Without a person: yes. */
export function askAboutCarrying(
  options: ParsedOptions<'yes'>,
  person: Person,
  { reporter, signal }: { readonly reporter: Reporter; readonly signal: AbortSignal },
): { readonly onCarry?: RunOptions['onCarry'] } {
  if (options.has('yes') || !isInteractive(person)) return {};
  return {
    onCarry: async (carried) => {
      reporter.report([carriedMessage(carried)]);
      const unused = carried.paidAddresses - carried.usedAddresses;
      const question = `${counted(unused, 'paid result')} of that run would be lost. Go on?`;
      return agrees(question, person, signal);
    },
  };
}
