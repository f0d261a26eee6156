import type { Client } from '../../client/client.js';
import { ConfigurationError, StateError } from '../../platform/errors/errors.js';
import { removeUnfinished } from '../../lists/files/outputs/output-file.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { checkOptions, type OptionShape } from '../../platform/check-options.js';
import { aFolder, flag, signal as aSignal } from '../../platform/option-kinds.js';
import { systemClock } from '../../platform/waiting/clock.js';
import { parseBatchName, uuidKey } from '../batches/batch.js';
import { deleteListed, type Deletions } from '../batches/uploads/delete-uploads.js';
import { aClient, defaults } from '../driver/driver-options.js';
import { StateDirectory } from '../stores/directory/state-directory.js';
import type { RunStore, SharedStore } from '../stores/run-store.js';
import { runMissing } from '../stores/shared/shared-status.js';
import { aStore } from './options/option-shapes.js';
import { checkAccount } from './resume/compare-run.js';

export interface AbandonRunOptions {
  /** The run's folder, unless it is in a store. */
  readonly stateDir?: string | undefined;
  /** The store of a shared run: all its processes are stopped first. */
  readonly store?: SharedStore | undefined;
  /** The service with the run's batches; without it they stay there. */
  readonly client?: Client | undefined;
  /** Also deletes batches whose results were fetched, which are lost then. @default false */
  readonly exportedToo?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const shape: OptionShape<AbandonRunOptions> = {
  stateDir: aFolder,
  store: aStore,
  client: aClient,
  exportedToo: flag,
  signal: aSignal,
};

/**
 * Abandons an unfinished run: deletes its unlaunched batches from the service, whichever process uploaded
 * them, and the state directory. Launched batches are paid, and stay on the service.
 *
 * @returns the number of deleted batches, the names of undeleted and of launched ones, which stay, and of uploads
 * whose answers were lost and that the service does not list: they may be there all the same
 * @throws StateError `state_locked` while a run works in it, `state_mismatch` when its batches are on another
 * service or in another account; OutputError; the error of a request, with nothing abandoned
 *
 * @example
 * ```ts
 * for (const { stateDir } of await findRuns('.')) {
 *   const { deleted, launched } = await abandonRun({ stateDir, client });
 *   console.log(deleted, 'batches deleted; paid, and left on the service:', launched);
 * }
 * ```
 */
export async function abandonRun(
  options: AbandonRunOptions,
): Promise<Deletions & { readonly unconfirmed: readonly string[] }> {
  checkOptions(options, shape);
  const { client, exportedToo = false } = options;
  const signal = options.signal ?? new AbortController().signal;
  const store = await openRun(options, signal);
  let deletions: Deletions = { deleted: 0, left: [], launched: [] };
  try {
    await checkService(client, store, signal);
    if (options.store) await stopAll(store, options.store, signal);
    const { run, batches, earlier } = store.state;
    const ids = [...(run ? [run.id] : []), ...earlier.map((before) => before.run.id)];
    const exported: string[] = [];
    const unconfirmed = new Set<string>();
    const all = [batches, ...earlier.map((before) => before.batches)];
    for (const entry of all.flatMap((known) => [...known.values()])) {
      const { state, name } = entry;
      for (const upload of entry.unconfirmed ?? []) unconfirmed.add(upload);
      if (state.stage === 'uploading' && name !== undefined) unconfirmed.add(name);
      if (exportedToo && state.stage === 'exported') exported.push(uuidKey(state.uuid));
    }
    if (client && ids.length > 0) {
      deletions = await deleteListed(
        client,
        ({ name }) => {
          unconfirmed.delete(name);
          return ids.some((id) => parseBatchName(name, id) !== undefined);
        },
        { signal, clock: systemClock, deadlineMs: defaults.batchDeadlineMs },
        (uuid) => exported.includes(uuidKey(uuid)),
      );
    }
    await store.clear();
    await store.remove();
    const [, output] = ofOutput.exec(options.stateDir ?? '') ?? [];
    if (output !== undefined) await removeUnfinished(output);
    return { ...deletions, unconfirmed: client ? [...unconfirmed] : [] };
  } finally {
    await store.close();
  }
}

/** The usual state directory is named after its output. */
const ofOutput = /^(.+)\.sluice\/*$/s;

async function openRun(
  { stateDir, store }: AbandonRunOptions,
  signal: AbortSignal,
): Promise<RunStore> {
  if (store) return store.open({ signal });
  if (stateDir === undefined)
    throw new ConfigurationError('stateDir is missing, or a store', {
      option: 'stateDir',
      fault: 'missing',
    });
  return StateDirectory.open(systemFiles, stateDir, { fresh: false });
}

const lookMs = 100;

/**
 * Stops the run's other processes: they launch nothing more and end. Waits until no process has a batch, or
 * its lease is over; until then it may upload.
 */
async function stopAll(store: RunStore, shared: SharedStore, signal: AbortSignal): Promise<void> {
  const { name } = shared;
  if (!store.state.run) throw runMissing(name);
  await store.record({
    entry: 'stopped',
    code: 'abandoned',
    message: `${name} was abandoned`,
    at: new Date().toISOString(),
  });
  const isAnyWorking = async (): Promise<boolean> =>
    (await shared.look())?.workers.some(({ isAlive, batches }) => isAlive && batches.length > 0) ===
    true;
  while (await isAnyWorking()) await systemClock.sleep(lookMs, signal);
}

/** Under another service or key every batch looks deleted. */
async function checkService(
  client: Client | undefined,
  store: RunStore,
  signal: AbortSignal,
): Promise<void> {
  const { run } = store.state;
  if (!client || !run) return;
  if (run.service !== client.baseUrl) {
    throw new StateError(`the run's batches are on ${run.service}, not on ${client.baseUrl}`, {
      code: 'state_mismatch',
      option: 'client',
    });
  }
  await checkAccount(client, run, store, signal);
}
