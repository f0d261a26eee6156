import { paidSince } from './launched-elsewhere.js';
import { hasBytes } from '../../history/history-file.js';
import {
  AddressesAtWork,
  joinAtWork,
  joinThoseAtWork,
  noteStopped,
} from '../../history/planned-elsewhere.js';
import { isOver } from './compare-run.js';
import { openInTurn } from './new-run.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError, OutputError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import type { FileLock } from '../../../platform/files/file-lock.js';
import { notice } from '../../../platform/text/notices.js';
import type { Batch } from '../../batches/batch.js';
import type { History } from '../../history/history.js';
import { lineHashes } from '../../plan/line-hashes.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import type { SharedRunStore } from '../../stores/run-store.js';
import type { ResolvedRun } from '../options/run-options.js';
import { noticed } from '../reporting/run-progress.js';

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

export class HistoryPresence {
  readonly #run: ResolvedRun;
  /** The run and its store, for messages. */
  readonly #name: string;
  #lock: FileLock | undefined;

  constructor(run: ResolvedRun, name: string) {
    this.#run = run;
    this.#name = name;
  }

  /** Waits for other runs that have the history, or may launch addresses of this one now. */
  async inTurn<Done>(work: () => Promise<Done>): Promise<Done> {
    const { onProgress, clock, signal } = this.#run;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await work();
      } catch (error) {
        await this.leave();
        if (!isSluiceError(error, 'state_locked')) throw error;
        if (pauseMs === firstPauseMs) onProgress?.(noticed(notice('history_in_use', {})));
        await clock.sleep(pauseMs, signal);
      }
    }
  }

  /**
   * Joins the processes at work. A process without the history shows itself, too.
   *
   * @param replace called where there is none, and another run with the history has launched addresses of this
   * one since it stopped: its processes share one plan. Ends in an error
   */
  async join(
    client: Client,
    begun: RunEntry,
    batches: readonly Batch[],
    { store, lost }: { readonly store: SharedRunStore; readonly lost: ReadonlySet<string> },
    replace: (history: History, addresses: number) => Promise<never>,
  ): Promise<void> {
    const run = this.#run;
    const { history: path } = begun;
    if (path === undefined || this.#lock) return;
    const presence = { files: run.files, path, id: begun.id };
    try {
      if (!run.openHistory) {
        const isHere = await hasBytes(run.files, path);
        if (isHere) this.#lock = await joinAtWork(presence, run);
        return;
      }
      this.#lock = await joinThoseAtWork(presence, run);
      if (this.#lock) return;
    } catch (error) {
      // A folder that this machine lacks, or may only read.
      const isFolder = error instanceof ConfigurationError || error instanceof OutputError;
      if (isFolder && !run.openHistory) return;
      if (!(error instanceof ConfigurationError)) throw error;
      run.onProgress?.(noticed(notice('history_left_out', { history: path })));
      return;
    }
    await this.inTurn(async () => {
      const history = await openInTurn(run, () => store.state.plan !== undefined);
      if (!history) return;
      try {
        // This process may have waited, or been frozen, while others went on with the run or ended it.
        await store.refresh();
        if (store.state.plan === undefined || isOver(store.state, run.retryFailed)) return;
        const others = await noteStopped(history, client, run, begun.id);
        const atWork = new AddressesAtWork(history, others);
        const addresses = await paidSince(history, batches, store.state, { atWork, lost });
        await notePlan(history, this.#name, begun, batches);
        if (addresses > 0) await replace(history, addresses);
        await this.show(history.path, begun.id);
      } finally {
        await history.close();
      }
    });
  }

  /** This process may launch addresses of the run at any moment. */
  async show(path: string, id: string): Promise<void> {
    this.#lock = await joinAtWork({ files: this.#run.files, path, id }, this.#run);
  }

  async leave(): Promise<void> {
    await this.#lock?.release();
    this.#lock = undefined;
  }
}

/** @param name the run and its store */
export async function notePlan(
  history: History,
  name: string,
  { id, account }: RunEntry,
  batches: readonly Batch[],
): Promise<void> {
  const noted = history.plannedRuns().find((planned) => planned.id === id);
  const last = batches.at(-1);
  const end = noted?.batches.find(({ batch }) => batch === last?.id);
  if (noted && (!last || (end && [...end.hashes()].length === last.addresses))) return;
  // A process that was killed has noted a part of it.
  if (noted) await history.dropPlan(id);
  await history.notePlan({ id, account, run: name }, batches, (place) =>
    lineHashes(batches[place] as Batch, history.seed),
  );
}
