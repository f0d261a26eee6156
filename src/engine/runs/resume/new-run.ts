import { randomBytes } from 'node:crypto';
import type { Client } from '../../../client/client.js';
import type { CreditBalance } from '../../../contract/bodies.js';
import type { Flag, Wanted } from '../../../platform/check-options.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import type { History } from '../../history/history.js';
import { suppressNotices } from '../options/read-suppressed.js';
import { askAboutColumns, columnNotices, emailNotices } from '../../plan/column-quality.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import type { Decisions, RunEntry } from '../../stores/journal-entries.js';
import { defaults, namePrefixOf } from '../../driver/driver-options.js';
import { asJson } from './compare-run.js';
import { balanceNotices, budgetNotices, nothingLeft } from '../credits.js';
import { runShape } from '../options/option-shapes.js';
import type { ComparedRun, ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { notice } from '../../../platform/text/notices.js';
import { noticed } from '../reporting/run-progress.js';
import { callOrAborted, orAborted } from '../../../platform/waiting/promises.js';

/**
 * Begins a run, replacing the one in the journal, if any.
 *
 * @param given.outputId its id in outputs. @default its own id
 *
 * @param given.retries whether failed addresses of earlier runs are sent again
 *
 * @param given.keepsBudget whether what the replaced one has spent counts
 */
export async function beginRun(
  client: Client,
  store: StateDirectory,
  options: ResolvedRun,
  given: {
    readonly outputId?: string;
    readonly retries?: boolean;
    readonly keepsBudget?: boolean;
  } = {},
): Promise<RunEntry> {
  const place = await store.place();
  const { command, maxCredits } = options;
  const entry = {
    ...(await newRun(client, options)),
    ...(command && { command }),
    ...(maxCredits !== undefined && { maxCredits }),
    ...(place && { place }),
    ...given,
  };
  await store.begin(entry);
  return entry;
}

export async function newRun(client: Client, options: ResolvedRun): Promise<RunEntry> {
  // With the history's own seed, an address is hashed once for both.
  const seed = Buffer.from(options.history?.seed ?? randomBytes(32)).toString('hex');
  const batchName = namePrefixOf(options);
  return {
    entry: 'run',
    id: randomBytes(8).toString('hex'),
    seed,
    startedAt: new Date(options.clock.wallNow()).toISOString(),
    service: serviceOf(client, options),
    account: await orAborted(client.keyFingerprint(seed), options.signal),
    ...decisionsOf(options),
    ...(options.deleteBatches === true && { deletes: true }),
    ...(batchName !== defaults.batchName && { batchName }),
    ...(options.history && { history: options.history.path }),
  };
}

/** The options that decide the rows, the batches and the output, by their public names. */
export function decisionsOf(options: ResolvedRun): Decisions {
  const { sink } = options;
  const writes = { output: sink.name, ...given(options, 'output'), ...sink.decides };
  return {
    decides: rowDecisionsOf(options),
    writes: asJson<unknown>(writes) as Decisions['writes'],
  };
}

/** Those that decide the rows and the batches. */
export function rowDecisionsOf(options: ComparedRun): Decisions['decides'] {
  const { source, settings = {} } = options;
  return asJson<unknown>({
    input: source.name,
    ...noColumns,
    ...given(options, 'rows'),
    settings,
    ...source.decides,
    ...options.decides,
  }) as Decisions['decides'];
}

const noColumns = { email: [], phone: [] };

function given(options: object, what: Flag['decides']): Readonly<Record<string, unknown>> {
  const table: Readonly<Record<string, Wanted>> = runShape;
  return Object.fromEntries(
    Object.entries(table).flatMap(([name, { flag }]) => {
      const value: unknown = Reflect.get(options, name);
      const isGiven = value !== undefined && value !== false;
      return flag && flag.decides === what && isGiven ? [[flag.name, value]] : [];
    }),
  );
}

export function serviceOf(client: Client, { serviceName }: ResolvedRun): string {
  return serviceName ?? client.baseUrl;
}

export async function checkBeforeSending(
  run: ResolvedRun,
  { plan, batches }: PlannedInput,
): Promise<void> {
  await askAboutColumns(plan, run);
  for (const each of [
    ...columnNotices(plan),
    ...suppressNotices(plan, run),
    ...emailNotices(plan, batches),
    ...budgetNotices({ ...nothingLeft, batches }, run),
  ]) {
    run.onProgress?.(noticed(each));
  }
}

/** Reports too small a balance before anything is sent; where there is a question before the launch, that shows it. */
export function reportBalance(
  run: ResolvedRun,
  { batches }: PlannedInput,
  balance: CreditBalance | undefined,
): void {
  if (!balance || run.onPrepared) return;
  for (const each of balanceNotices(batches, balance, run)) run.onProgress?.(noticed(each));
}

/** @param servicePath folder for the data of an in-process service */
export async function givenClient(
  { client, signal }: ResolvedRun,
  servicePath: string,
): Promise<Client> {
  return typeof client === 'function'
    ? callOrAborted(async () => client(servicePath), signal)
    : client;
}

const lockedMs = 1000;

/**
 * Opens the history of a shared run; waits while another process has it.
 *
 * @param isNeeded called before each attempt
 *
 * @returns `undefined` where there is none, or it is no longer needed
 */
export async function openInTurn(
  { openHistory, onProgress, clock, signal }: ResolvedRun,
  isNeeded: () => boolean,
): Promise<History | undefined> {
  if (!openHistory) return undefined;
  for (let trials = 0; isNeeded(); trials += 1) {
    try {
      return await openHistory();
    } catch (error) {
      if (!isSluiceError(error, 'state_locked')) throw error;
    }
    if (trials === 0) onProgress?.(noticed(notice('history_in_use', {})));
    await clock.sleep(lockedMs, signal);
  }
  return undefined;
}
