import { dirname } from 'node:path';
import { isSluiceError } from '../../index.js';
import { comparableNames } from '../../lists/location.js';
import { inFileName } from '../../platform/text/printable.js';
import type { CommandInput } from '../command.js';
import {
  asWritten,
  historiesIn,
  isDatabase,
  isTaken,
  listAt,
  listEnding,
  locationOf,
  pathOf,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import { type EstimatedJob, totalOf } from '../job/estimate-job.js';
import { errorText } from '../messages/describe-error.js';
import { message, type Message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { AddedOption } from './choose-country.js';
import { historyBeside } from '../endpoints/proposed-names.js';

/**
 * @param how.isOffline whether the service is not asked for the balance. @default it is asked
 * @param how.without options of the command that are left out. @default none
 */
export type EstimateWith = (
  added: readonly AddedOption[],
  how?: { readonly isOffline?: boolean; readonly without?: readonly VerifyOption[] },
) => Promise<EstimatedJob>;

/** The list is read once for each: the latest are tried. */
const mostHistories = 8;

interface ChosenHistory {
  readonly added: readonly AddedOption[];
  readonly messages: readonly Message[];
  readonly counted: EstimatedJob;
  /** The output of a trial, where there is room for one beside that of the list. */
  readonly trial: string | undefined;
}

/**
 * Chooses what a run that is paid for keeps its results in: of the histories in the folders of the output and
 * the list the one that knows most of the addresses; a new one where none knows any.
 *
 * @param isCountryKnown whether results for other countries than that which is counted with are of no use
 */
export async function chooseHistory(
  counted: EstimatedJob,
  { added, isCountryKnown }: { added: readonly AddedOption[]; isCountryKnown: boolean },
  input: CommandInput<VerifyOption>,
  estimate: EstimateWith,
): Promise<ChosenHistory> {
  const { options, cwd } = input;
  const output =
    added.findLast(([name]) => name === 'output')?.[1] ?? options.text('output') ?? standard;
  const isPaid = counted.estimate.service !== 'local' && output !== true;
  const table = added.findLast(([name]) => name === 'into')?.[1] ?? options.text('into');
  const beside = isPaid ? await filesBeside(output, String(table), input) : undefined;
  const trial = beside?.output;
  if (!beside || options.has('history')) return { added: [], messages: [], counted, trial };
  const inTurn = [
    ...((await isTaken(resolvePath(cwd, beside.history))) ? [beside.history] : []),
    ...historiesBeside(beside.history, input),
  ];
  const knows = (tried: EstimatedJob): number =>
    totalOf(tried, 'from_history') +
    (isCountryKnown
      ? 0
      : tried.doubtful.reduce((sum, each) => sum + (each.inHistory?.known ?? 0), 0));
  let best: { readonly history: string; readonly counted: EstimatedJob } | undefined;
  const messages: Message[] = [];
  for (const history of inTurn.slice(0, mostHistories)) {
    try {
      const tried = await estimate([...added, ['history', history]], { isOffline: true });
      if (!best || knows(tried) > knows(best.counted)) best = { history, counted: tried };
      if (totalOf(tried, 'credits') === 0) break;
    } catch (error) {
      // One of another service is of no use here.
      if (history === beside.history || !isSluiceError(error)) throw error;
      if (error.code !== 'state_mismatch')
        messages.push(message('history_not_counted', { history, message: errorText(error) }));
    }
  }
  const isUsed = best && (knows(best.counted) > 0 || best.history === beside.history);
  const used = isUsed ? best : undefined;
  const history = used?.history ?? beside.history;
  const known = used ? totalOf(used.counted, 'from_history') : 0;
  messages.push(
    message('proposed_history', {
      history,
      known,
      of: totalOf(counted, 'addresses'),
      is_other: history !== beside.history,
    }),
  );
  const { balance } = counted.estimate;
  return {
    added: [['history', history]],
    messages,
    counted: used
      ? { ...used.counted, estimate: { ...used.counted.estimate, balance } }
      : { ...counted, before: counted.before.map(keptNow) },
    trial,
  };
}

/** A new history keeps what is paid for again. */
function keptNow(each: Message): Message {
  return each.event === 'paid_again'
    ? { ...each, fields: { ...each.fields, is_kept: true } }
    : each;
}

/** The others beside the output and the list: the latest first. */
function historiesBeside(own: string, input: CommandInput<VerifyOption>): readonly string[] {
  const { cwd, positionals } = input;
  const lists = positionals.map((path) => pathOf(locationOf(path, input)));
  const folders = [own, ...lists].flatMap((path) => {
    const folder = path === undefined || path === standard ? undefined : dirname(path);
    return folder === undefined ? [] : [[comparableNames(folder, cwd), folder] as const];
  });
  return [...new Map(folders).values()]
    .flatMap((folder) => historiesIn(resolvePath(cwd, folder)))
    .filter(({ path }) => comparableNames(path, cwd) !== comparableNames(own, cwd))
    .toSorted((one, other) => other.changedMs - one.changedMs)
    .map(({ path }) => asWritten(cwd, path));
}

interface FilesBeside {
  /** Of a trial. */
  readonly output: string;
  /**
   * Keeps the trial's results, so that the full run does not pay for them again. Named for the list, as in the
   * examples: outputs have more names than one.
   */
  readonly history: string;
}

/**
 * @param table of an output that is a database: its files are in the current folder
 *
 * @returns `undefined` where the output has no place for another file beside it
 */
async function filesBeside(
  output: string,
  table: string,
  input: CommandInput<VerifyOption>,
): Promise<FilesBeside | undefined> {
  const location = locationOf(output, input);
  const { kind } = location;
  const isNamed = kind === 'file' || isDatabase(location) || listAt(location) === output;
  const path = isDatabase(location) ? `${inFileName(table)}.csv` : location.path;
  if (path === standard || !isNamed) return undefined;
  const stem = path.replace(listEnding, '');
  return {
    output: `${stem}.trial${path.slice(stem.length)}`,
    history: await historyBeside({ ...location, path }, input),
  };
}
