import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  ConfigurationError,
  findRuns,
  type RunOptions,
  type RunStatus,
  type SharedStore,
  type Sink,
  type Source,
} from '../../index.js';
import { readStoppedRun, runEntryOf } from '../../engine/runs/reporting/read-status.js';
import { comparableNames, showLocation } from '../../lists/location.js';
import { describeCredits } from '../../platform/text/shown-numbers.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import type { Target } from '../connect.js';
import {
  asWritten,
  isDatabase,
  type Location,
  nearHistory,
  pathOf,
} from '../endpoints/locations.js';
import { message, type FieldsOf, type Message } from '../messages/catalogue.js';
import { emptyHistorySentence } from '../messages/sentences.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';
import { type Dialogue, findStatus } from './questions.js';

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

/** Whether others have begun the run; yes where their store does not answer. */
export async function isJoined(
  store: SharedStore | undefined,
  options: ParsedOptions<'store'>,
): Promise<boolean> {
  if (!store) return options.has('store');
  return store.look().then(
    (begun) => begun !== undefined,
    () => true,
  );
}

/** Also with `--quiet`: a person who repeats a finished command may expect it to resume. */
export function paidAgain(paid: PaidOutput, addresses: number, isAgreed: boolean): Message {
  // A history that is named and has nothing is likely another one than is meant.
  const severity = isAgreed && paid.history === null ? 'notice' : 'warning';
  return message('paid_again', { ...paid, addresses, is_kept: undefined }, severity);
}

export function isAskedAboutPaid(
  options: ParsedOptions<'yes' | 'preflight' | 'retry-failed'>,
): boolean {
  return !(['yes', 'preflight', 'retry-failed'] as const).some((name) => options.has(name));
}

/** Whether a run with this state directory goes on with what was paid, or collects it. */
async function usesPaid(stateDir: string): Promise<boolean> {
  const found = await readStoppedRun(stateDir).catch(() => undefined);
  if (!found) return false;
  const { status, creditsBefore } = found;
  // Paid results that were not fetched are collected first.
  if (status.isFinished || status.retry.exports > 0) return status.retry.exports > 0;
  return creditsBefore !== undefined || describeCredits(status.launchedCredits) !== undefined;
}

/**
 * Asks the person at the terminal, before anything is read, whether to write an output again and pay again.
 * Not asked where an unfinished run that has paid is resumed or dropped.
 *
 * @returns whether the person was asked, and agreed
 * @throws ConfigurationError when the person refuses
 */
export async function agreeToPayAgain(
  findPaid: () => Promise<PaidOutput | undefined>,
  stateDir: string | undefined,
  person: Person,
  signal: AbortSignal,
): Promise<boolean> {
  const paid = isInteractive(person) ? await findPaid() : undefined;
  if (!paid || (stateDir !== undefined && (await usesPaid(stateDir)))) return false;
  const { output, is_updated: isUpdated, history, meant } = paid;
  const kept = history === null ? '' : ` ${emptyHistorySentence(history, meant)}.`;
  const question = `${output} ${isUpdated ? 'has results' : 'is there'}.${kept} This is a new run: it ${isUpdated ? 'updates them' : 'replaces it'}, and pays for all its addresses, also those that are paid already. Start it?`;
  if (await agrees(question, person, signal)) return true;
  throw new ConfigurationError(
    `stopped; nothing was sent, and ${output} is untouched: ${isUpdated ? '' : 'name another output (-o), or '}${history === null ? 'add --history <file>' : 'name the history that has its results (--history)'}, so that a run pays only for what is new`,
    { code: 'declined', option: '--history' },
  );
}

/**
 * Unfinished runs in this folder and beside the output that have paid for something, and which a run with this
 * state directory does not continue.
 */
export async function findOtherRuns(
  stateDir: string | undefined,
  cwd: string,
  output?: string,
): Promise<readonly RunStatus[]> {
  const beside = [stateDir, output && comparableNames(output)].flatMap((path) =>
    path === undefined ? [] : [dirname(path)],
  );
  const folders = new Map([cwd, ...beside].map((folder) => [comparableNames(folder), folder]));
  const found = await Promise.all(
    [...folders.values()].map(async (folder) => findRuns(folder).catch(() => [])),
  );
  return found
    .flat()
    .flatMap((each) => ('status' in each ? [each.status] : []))
    .filter((status) => {
      const { isFinished, service, launchedCredits } = status;
      const isOther =
        stateDir === undefined || comparableNames(status.stateDir) !== comparableNames(stateDir);
      const isPaid = service !== 'local' && describeCredits(launchedCredits) !== undefined;
      return isOther && isPaid && !isFinished;
    });
}

/** A run may have been begun in the folder of its state. @param list by the name that runs know it by */
export function isSameInput({ input, stateDir }: RunStatus, list: string): boolean {
  const wanted = comparableNames(list);
  return [undefined, dirname(stateDir)].some((folder) => comparableNames(input, folder) === wanted);
}

/** The name of a list by which runs know it. */
export function inputOf({ name, decides }: Source): string {
  return decides?.['input'] ?? name;
}

/**
 * What such runs have paid for the same columns: a run with another output pays for it again.
 *
 * @param list by the name that runs know it by
 * @param output the file, which may be a link into another folder
 */
export async function paidElsewhere(
  list: string,
  stateDir: string | undefined,
  output: string | undefined,
  target: Target,
  { options, cwd }: CommandInput<'email' | 'phone'>,
): Promise<readonly Message[]> {
  const known = stateDir === undefined ? undefined : await findStatus(stateDir);
  if (target.kind === 'local' || known?.isFinished === false) return [];
  const columns = new Set(namesOf([...options.texts('email'), ...options.texts('phone')]));
  const messages: Message[] = [];
  for (const run of await findOtherRuns(stateDir, cwd, output)) {
    if (!isSameInput(run, list)) continue;
    const { email, phone } = (await runEntryOf(run.stateDir))?.decides ?? {};
    const isSame = namesOf([email, phone].flat()).some((name) => columns.has(name));
    if (!isSame || run.service !== target.baseUrl) continue;
    messages.push(elsewhereMessage(run, cwd));
  }
  return messages;
}

export function elsewhereMessage(run: RunStatus, cwd: string): Message {
  return message('paid_elsewhere', {
    state: asWritten(cwd, run.stateDir),
    output: asWritten(cwd, run.output),
    started_at: run.startedAt,
    paid: describeCredits(run.launchedCredits) ?? '',
  });
}

function namesOf(columns: readonly unknown[]): readonly string[] {
  return columns.flatMap((name) => (typeof name === 'string' ? [name.trim().toLowerCase()] : []));
}

/** Reports what is about to be paid for again, and asks. @throws ConfigurationError when the person refuses */
export async function agreeBesideOthers(
  others: readonly Message[],
  isAgreed: boolean,
  { person, reporter, signal }: Dialogue,
): Promise<void> {
  reporter.report(others);
  if (others.length === 0 || isAgreed || !isInteractive(person)) return;
  if (await agrees('Start this run, and pay for them again?', person, signal)) return;
  throw new ConfigurationError('stopped; nothing was sent', { code: 'declined' });
}

/** The command line's own form of the run's warning, where the service is not free and nobody has agreed yet. */
export function withPaidAgain(
  onProgress: RunOptions['onProgress'],
  paid: () => PaidOutput | undefined,
  { reporter, isAgreed }: { readonly reporter: Reporter; readonly isAgreed: boolean },
): NonNullable<RunOptions['onProgress']> {
  return (progress) => {
    if (progress.stage !== 'notice' || progress.code !== 'paid_again') {
      onProgress?.(progress);
      return;
    }
    const found = paid();
    const { addresses } = progress.fields;
    if (found) reporter.report([paidAgain(found, Number(addresses), isAgreed)]);
  };
}
