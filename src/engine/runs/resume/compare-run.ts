import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../../client/client.js';
import { comparableNames } from '../../../lists/location.js';
import { StateError } from '../../../platform/errors/errors.js';
import type { Decisions, PlanEntry, RunEntry } from '../../stores/journal-entries.js';
import {
  hasPaid,
  type JournaledBatches,
  owedExports,
  type RunState,
} from '../../stores/run-state.js';
import type { RunStore } from '../../stores/run-store.js';
import { notice } from '../../../platform/text/notices.js';
import type { ComparedRun } from '../options/run-options.js';
import { noticed } from '../reporting/run-progress.js';
import { isVisible } from '../../batches/uploads/list-uploads.js';
import { optionName } from '../../../platform/text/sentence.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';

/** A run whose list was read to its end. */
export type PlannedRun = RunState & { readonly run: RunEntry; readonly plan: PlanEntry };

export function isPlanned(state: RunState): state is PlannedRun {
  return state.run !== undefined && state.plan !== undefined;
}

/** Whether its output is complete: its results are no longer needed. */
export function isOver(state: RunState, retryFailed: boolean | undefined): boolean {
  return state.finished !== undefined && retryFailed !== true;
}

/**
 * Whether another run takes up what failed before the list changed: failed addresses on request, paid exports
 * by themselves. Another run has another budget: one with a budget that has paid is resumed first.
 */
export function takesUpEarlier(state: RunState, { retryFailed, maxCredits }: ComparedRun): boolean {
  if (state.finished) {
    return retryFailed === true && state.earlier.some((each) => takesUp(each, retryFailed));
  }
  const isOwed = state.earlier.some((each) => takesUp(each, false));
  return isOwed && (maxCredits === undefined || !hasPaid(state));
}

export function isRetryAsked({ retryFailed, isRetryImplied }: RetryChoice): boolean {
  return retryFailed === true && isRetryImplied !== true;
}

export type RetryChoice = Pick<ComparedRun, 'retryFailed' | 'isRetryImplied'>;

/** Whether a run has failed batches that are taken up: without a request, paid ones whose export was wrong. */
export function takesUp(run: JournaledBatches, retryFailed: boolean | undefined): boolean {
  if (retryFailed !== true) return owedExports(run) > 0;
  return [...run.batches.values()].some(({ state }) => state.stage === 'failed');
}

/**
 * A finished run that lacks paid results, its own or those of a run that it replaced, requests them before
 * anything else, whatever list comes. Addresses that failed otherwise are sent again, as by any later run.
 */
export function withRetriableExports<Run extends ComparedRun>(run: Run, state: RunState): Run {
  const owed = [state, ...state.earlier].reduce((sum, each) => sum + owedExports(each), 0);
  if (!state.finished || owed === 0 || run.retryFailed === true || !state.run) return run;
  const { startedAt: started_at } = state.run;
  run.onProgress?.(noticed(notice('results_owed', { batches: owed, started_at })));
  return { ...run, retryFailed: true, isRetryImplied: true, onChange: run.onChange ?? 'carry' };
}

/** These are compared by their results: names may differ between machines. */
const comparedItself: ReadonlySet<string> = new Set(['input', 'suppress']);

/** What two runs differ in. */
export interface Differences {
  /** Options by their names in a program; `source` for the list, too. */
  readonly options: readonly string[];
  /** The same in words. */
  readonly text: string;
}

interface Difference {
  readonly option: string;
  readonly text: string;
}

function together(differences: readonly Difference[]): Differences | undefined {
  if (differences.length === 0) return undefined;
  return {
    options: differences.map(({ option }) => option),
    // One command line option may cover two settings.
    text: [...new Set(differences.map(({ text }) => text))].join(', '),
  };
}

export function differingSettings(
  state: RunEntry,
  given: RunEntry['decides'],
  service: string | undefined,
): Differences | undefined {
  return together(serviceAndSettings(state, given, service));
}

function serviceAndSettings(
  state: RunEntry,
  given: RunEntry['decides'],
  service: string | undefined,
): readonly Difference[] {
  const settings = settingsThatDiffer(state.decides, given);
  if (state.service === service) return settings;
  const now = service === undefined || service === 'local' ? 'no service' : service;
  const text = `${optionName('baseUrl')} (${state.service} when it began, ${now} now)`;
  return [{ option: 'baseUrl', text }, ...settings];
}

function settingsThatDiffer(
  before: RunEntry['decides'],
  now: RunEntry['decides'],
): readonly Difference[] {
  const [then, given] = [before, now].map(
    (decides) => (decides['settings'] ?? {}) as RunEntry['decides'],
  );
  return differingNames(then ?? {}, given ?? {}).map((name) => {
    const option = `settings.${name}`;
    return { option, text: optionName(option) };
  });
}

/** Refuses another service or other parameters once something was sent: paid results exist only there. */
export function refuseOthers(differing: Differences | undefined): void {
  if (differing === undefined) return;
  throw new StateError(
    `the unfinished run in the state directory was sent with other options; these differ: ${differing.text}. Nothing was sent now. Give the same again to go on, or start over with ${optionName('fresh')}, which pays again`,
    { code: 'state_mismatch', differs: differing.options },
  );
}

/**
 * Refuses to go on without the suppress lists that a run began with: it would send the addresses of people who
 * have opted out. Other lists, and more or fewer lines in them, are no reason.
 */
export function refuseLostSuppress(
  { decides }: RunEntry,
  given: RunEntry['decides'],
  onChange: ComparedRun['onChange'],
): void {
  const lists = decides['suppress'];
  if (lists === undefined || given['suppress'] !== undefined || onChange === 'carry') return;
  const option = optionName('suppress');
  throw new StateError(
    `the unfinished run in the state directory began with ${option} (${shownValue(lists)}), and is to go on without it: addresses on that list would be sent. Nothing was sent now. Give ${option} again, add ${optionName('onChange', 'carry')} to send them, or start over with ${optionName('fresh')}, which pays again`,
    { code: 'state_mismatch', option: 'suppress' },
  );
}

/** Options that leave out addresses or rows, by their names in the journal. */
const leavingOut = {
  suppress: 'suppress',
  keep: 'keep',
  'keep-quality': 'keepQuality',
  unique: 'unique',
  rejects: 'rejects',
} as const;

/** Those that a run began with and is resumed without. */
export function leftOutOptions(state: Decisions, given: Decisions): readonly string[] {
  const [before, now] = [allOf(state), allOf(given)];
  return Object.entries(leavingOut)
    .filter(([name]) => before[name] !== undefined && now[name] === undefined)
    .map(([, option]) => option);
}

type AccountMatch = 'same' | 'replaced' | 'unknown' | 'other';

/** Whether a key is of the run's account: under another, all batches look deleted; a new key of the same sees them. */
export async function isOfAccount(
  client: Client,
  run: RunEntry,
  state: RunState,
  signal: AbortSignal,
): Promise<AccountMatch> {
  const account = await orAborted(client.keyFingerprint(run.seed), signal);
  if (account === run.account) return 'same';
  const uuids = [{ batches: state.batches }, ...state.earlier]
    .flatMap(({ batches }) => [...batches.values()])
    .map((entry) => ('uuid' in entry.state ? entry.state.uuid : undefined))
    .filter((uuid) => uuid !== undefined);
  for (const uuid of uuids) if (await isVisible(client, uuid, signal)) return 'replaced';
  return uuids.length === 0 ? 'unknown' : 'other';
}

export async function checkAccount(
  client: Client,
  state: RunEntry,
  store: RunStore,
  signal: AbortSignal,
): Promise<void> {
  const found = await accountOf(client, state, store.state, signal);
  if (found === 'replaced') {
    await store.record({ entry: 'account', account: await client.keyFingerprint(state.seed) });
  }
}

/** Whether the key is another one of the same account. @throws StateError `state_mismatch` for another account */
export async function accountOf(
  client: Client,
  run: RunEntry,
  state: RunState,
  signal: AbortSignal,
): Promise<AccountMatch> {
  const found = await isOfAccount(client, run, state, signal);
  if (found !== 'other') return found;
  throw new StateError(
    `the key belongs to another account than the one that the unfinished run in the state directory was begun with: none of its batches is there. Use a key of that account to go on, or start over with ${optionName('fresh')}, which pays again`,
    { code: 'state_mismatch', option: 'apiKey' },
  );
}

/** Which options differ that every process of a run must be given alike. */
export function differingShared(
  state: RunEntry,
  given: Decisions & { readonly service: string },
): Differences | undefined {
  const [before, now] = [allOf(state), allOf(given)];
  const options = differingOptions(before, now).filter((name) => !comparedItself.has(name));
  const settings = serviceAndSettings(state, given.decides, given.service);
  return together([...settings, ...shownOptions(options, before, now)]);
}

/** Whether two runs of the same rows write the same output. */
export function hasSameOutput(state: Decisions, given: Decisions): boolean {
  return differingOptions(allOf(state), allOf(given)).every((name) => comparedItself.has(name));
}

export function isSameRun(state: RunEntry, given: Decisions, service: string): boolean {
  return state.service === service && differingOptions(allOf(state), allOf(given)).length === 0;
}

/**
 * What has changed since a run read its list. A file's name and the choice of output are no change.
 *
 * @returns `undefined` when the rows make the same batches
 */
export function findChange(
  state: { readonly run: RunEntry; readonly plan: PlanEntry },
  decides: RunEntry['decides'],
  plan: PlanEntry,
): Differences | undefined {
  // The header's position may be given by now, or detected.
  const [before, now] = [state.plan, plan].map((each) => asJson({ ...each, headers: undefined }));
  if (isDeepStrictEqual(before, now)) return undefined;
  const differing = differingOptions(state.run.decides, decides).filter((name) => name !== 'input');
  const options = shownOptions(differing, state.run.decides, decides);
  return together(options) ?? { options: ['source'], text: changeOfList(state.plan, plan) };
}

function changeOfList(before: PlanEntry, now: PlanEntry): string {
  if (before.rows !== now.rows) {
    return `the list has ${counted(now.rows, 'row')} now and had ${grouped(before.rows)}`;
  }
  const isHeader = !isDeepStrictEqual(before.headers, now.headers);
  return isHeader
    ? `the list's header is in line ${headerLine(now)} now and was in line ${headerLine(before)}`
    : "the list's content";
}

/** Options of a finished run that differ in the call for its report. */
export function othersThanFinished(state: Decisions, given: Decisions): Differences | undefined {
  const [before, now] = [allOf(state), allOf(given)];
  const options = shownOptions(differingOptions(before, now), before, now);
  return together([...settingsThatDiffer(before, now), ...options]);
}

function allOf({ decides, writes }: Decisions): RunEntry['decides'] {
  return { ...decides, ...writes };
}

/** But for the settings, which are named one by one. */
function shownOptions(
  names: readonly string[],
  before: RunEntry['decides'],
  now: RunEntry['decides'],
): readonly Difference[] {
  return names
    .filter((name) => name !== 'settings')
    .map((name) => {
      const [then, given] = [before[name], now[name]].map(shownValue);
      const option = propertyOf(name);
      return { option, text: `${optionName(option)} (${then} when it began, ${given} now)` };
    });
}

const longestShown = 60;

function shownValue(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0) return 'none';
  const text = values.map(valueText).join(', ');
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}=${shownValue(each)}`)
    .join(', ');
}

/** The journal uses hyphens, and names the sink as the command line does. */
function propertyOf(inJournal: string): string {
  if (inJournal === 'output') return 'sink';
  if (inJournal === 'input') return 'source';
  return inJournal.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function differingOptions(
  known: RunEntry['decides'],
  given: RunEntry['decides'],
): readonly string[] {
  return differingNames(known, given).filter(
    (name) => !paths.has(name) || pathOf(known[name]) !== pathOf(given[name]),
  );
}

function differingNames(known: RunEntry['decides'], given: RunEntry['decides']): readonly string[] {
  const names = new Set([...Object.keys(known), ...Object.keys(given)]);
  return [...names].filter((name) => !isDeepStrictEqual(known[name], given[name]));
}

const paths: ReadonlySet<string> = new Set(['input', 'output', 'rejects']);

/** Spelling of a path is no difference, nor is the way to it. */
function pathOf(name: unknown): unknown {
  return typeof name === 'string' ? comparableNames(name) : name;
}

function headerLine({ headers }: PlanEntry): string {
  return (headers ?? [1]).join(', ');
}

/** The value as the journal returns it. */
export function asJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
