import type { Client } from '../../../client/client.js';
import { StateError } from '../../../platform/errors/errors.js';
import { AddressTable, type HashWords } from '../../../platform/hashing/address-table.js';
import { hashWords, KeyHash } from '../../../platform/hashing/key-hash.js';
import { type Notice, notice } from '../../../platform/text/notices.js';
import { optionName } from '../../../platform/text/sentence.js';
import { counted } from '../../../platform/text/shown-numbers.js';
import { isLaunchInDoubt, mayHaveLaunched } from '../../batches/batch-state.js';
import type { Batch } from '../../batches/batch.js';
import { collectLaunched, type WhyLost } from '../../driver/collect-launched.js';
import type { History } from '../../history/history.js';
import { NumberList } from '../../plan/address-book.js';
import { lineHashes } from '../../plan/line-hashes.js';
import type { LaunchedBatch } from '../../plan/result-cache.js';
import { OutcomeTable } from '../../results/outcome-table.js';
import type { EarlierRun, RunState } from '../../stores/run-state.js';
import type { ResolvedRun } from '../options/run-options.js';
import { recordedBatches } from '../planning/batch-files.js';
import { checkListSize, type PlannedInput, type PlanInputOptions } from '../planning/plan-input.js';
import { noticed } from '../reporting/run-progress.js';
import { uuidsOf } from './earlier-results.js';
import { AddressesAtWork, noteStopped } from '../../history/planned-elsewhere.js';

/** Collects what a stream with this history has launched and left, before the list is looked up. */
export async function collectLeft(
  history: History,
  service: Client,
  { onProgress, ...settings }: ResolvedRun,
): Promise<void> {
  const owner = {};
  for (const each of history.notices()) onProgress?.(noticed(each));
  try {
    await collectLaunched(owner, {
      ...settings,
      history,
      service,
      isWanted: ({ run }) => run === undefined,
      onFound: (batches) => onProgress?.(noticed(notice('launched_left', { batches }))),
      onLeftBehind: (names) => onProgress?.({ stage: 'left_behind', names, isConfirmed: true }),
    });
  } finally {
    history.release(owner);
  }
}

/** What streams have left is collected before a run looks up its list; a dry run, which collects nothing, asks for `all`. */
type LaunchedBy = 'runs' | 'all';

const isOfRun = ({ run }: LaunchedBatch): boolean => run !== undefined;

/** Addresses that runs which stopped, or were left, have launched: their results are not in the history yet. */
export class LaunchedElsewhere {
  readonly #launched: readonly LaunchedBatch[];
  readonly #table: AddressTable;
  /** By the table's numbers. */
  readonly #batches = new NumberList();
  /** Addresses of this run, by batch_uuid. */
  readonly #found = new Map<string, number>();

  /** @param uuidsOfRun batch_uuids of the run itself */
  constructor(history: History, uuidsOfRun: ReadonlySet<string>, by: LaunchedBy = 'runs') {
    this.#launched = history.takeLaunched(
      this,
      (batch) => (by === 'all' || isOfRun(batch)) && !uuidsOfRun.has(batch.batchUuid),
    );
    history.release(this);
    this.#table = new AddressTable({ seed: history.seed });
    for (const [number, batch] of this.#launched.entries()) {
      for (const hash of batch.hashes()) {
        if (this.#table.addHashed(hash) === this.#batches.length) this.#batches.push(number);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#launched.length === 0;
  }

  /** @returns whether it has the address */
  note(hash: HashWords): boolean {
    const place = this.#table.findHashed(hash);
    const batch = place === -1 ? undefined : this.#launched[this.#batches.at(place)];
    if (batch) this.#found.set(batch.batchUuid, (this.#found.get(batch.batchUuid) ?? 0) + 1);
    return batch !== undefined;
  }

  /** Those with addresses of this run. */
  get found(): readonly LaunchedBatch[] {
    return this.#launched.filter(({ batchUuid }) => this.#found.has(batchUuid));
  }

  notices(): readonly Notice[] {
    const found = this.found.filter(isOfRun);
    return found.length === 0 ? [] : [notice('launched_elsewhere', this.figuresOf(found))];
  }

  /** The state directories of their runs, and how many of their addresses this run has. */
  figuresOf(batches: readonly LaunchedBatch[]): { runs: readonly string[]; addresses: number } {
    return {
      runs: [...new Set(batches.map(({ run = '' }) => run))],
      addresses: batches.reduce((sum, { batchUuid }) => sum + (this.#found.get(batchUuid) ?? 0), 0),
    };
  }
}

/** Counts a resumed run's addresses that it may not have launched, and another run with its history has since. */
export async function paidSince(
  history: History,
  batches: readonly Batch[],
  state: RunState,
  {
    atWork = new AddressesAtWork(history, []),
    by = 'runs',
    lost,
  }: {
    readonly atWork?: AddressesAtWork;
    readonly by?: LaunchedBy;
    /** batch_uuids of launches whose results were given up when it was planned. */
    readonly lost?: ReadonlySet<string>;
  } = {},
): Promise<number> {
  const isPaid = paidLookup(history, state, by, { lost });
  const hash = new KeyHash(history.seed);
  let count = 0;
  for await (const { batch, entry } of recordedBatches(batches, state)) {
    if (entry && mayHaveLaunched(entry.state) && !isLaunchInDoubt(entry.state)) continue;
    for await (const hashes of lineHashes(batch, history.seed)) {
      for (let place = 0; place < hashes.length / hashWords; place += 1) {
        hash.bringBack(hashes, place);
        atWork.note(hash);
        if (isPaid(hash)) count += 1;
      }
    }
  }
  atWork.refuse();
  return count;
}

interface PaidBefore {
  /** When this one was planned, for what its plan has found already. @default that has nothing of it */
  readonly sinceMs?: number;
  readonly lost?: ReadonlySet<string> | undefined;
}

/** Whether another run has paid for an address that this one may not have launched. */
export function paidLookup(
  history: History,
  state: RunState,
  by: LaunchedBy,
  { sinceMs = -Infinity, lost = new Set() }: PaidBefore = {},
): (hash: HashWords) => boolean {
  const uuidsOfRun = launchesOf(state);
  const elsewhere = new LaunchedElsewhere(history, new Set([...uuidsOfRun, ...lost]), by);
  const recall = history.recall(new OutcomeTable(), false);
  return (hash) => {
    if (recall.outcomeOf(hash) === -1) return elsewhere.note(hash);
    const { batchUuid, atMs } = recall.latest().origin;
    // A launch in doubt may have arrived, and another run have collected it.
    return !uuidsOfRun.has(batchUuid) && atMs >= sinceMs;
  };
}

/** batch_uuids that a run or one that it replaced may have launched; refused ones are noted in the history, too. */
export function launchesOf({ earlier, batches }: RunState): ReadonlySet<string> {
  const asked = [...batches.values()].flatMap(({ state }) =>
    'uuid' in state && state.uuid !== undefined ? [state.uuid] : [],
  );
  return new Set([...uuidsOf(earlier), ...asked]);
}

/** @throws StateError `state_mismatch` where a run keeps its plan, and others have paid for some of it since */
export function refusePaidSince(addresses: number, onChange: ResolvedRun['onChange']): void {
  if (addresses === 0 || onChange !== 'stop') return;
  throw paidSinceError(addresses, 'onChange', `${optionName('onChange', 'auto')} leaves`);
}

export function paidSinceError(
  addresses: number,
  option: 'onChange' | 'history',
  leaves: string,
  done = 'Nothing was sent',
): StateError {
  const [them, they] = addresses === 1 ? ['it', 'it is'] : ['them', 'they are'];
  return new StateError(
    `another run with this history has paid for ${counted(addresses, 'address')} of this list since it stopped. ${done}. Ways on: ${leaves} ${them} out; without the history ${they} paid for again`,
    { code: 'state_mismatch', option },
  );
}

interface BesideOthers {
  readonly run: ResolvedRun;
  readonly client: Client;
  readonly earlier: readonly EarlierRun[];
  readonly id: string;
  /** The shared run that it may take the place of. */
  readonly replaces?: { readonly id: string; readonly name: string } | undefined;
  /** Called with the batch_uuid of each launch whose results are given up. */
  readonly onLost?: (batchUuid: string) => void;
}

/**
 * Plans a new run. Where a run that stopped or was left has launched some of its addresses, they are paid for:
 * their results are waited for, and the list is planned again with them.
 *
 * @throws InputError `input_suspect`; StateError `state_locked` where processes of a shared run may launch some of
 * its addresses now
 */
export async function planBesideOthers(
  { run, client, earlier, id, replaces, onLost }: BesideOthers,
  readList: (given: Pick<PlanInputOptions, 'onMissing' | 'isAgain'>) => Promise<PlannedInput>,
): Promise<PlannedInput> {
  const { history, onProgress, ...settings } = run;
  const read = async (...given: Parameters<typeof readList>): Promise<PlannedInput> => {
    const planned = await readList(...given);
    await checkListSize(run, planned.entry.rows);
    return planned;
  };
  if (!history) return read({});
  const atWork = new AddressesAtWork(
    history,
    await noteStopped(history, client, run, id, replaces?.id),
  );
  const elsewhere = new LaunchedElsewhere(history, uuidsOf(earlier));
  if (elsewhere.isEmpty && atWork.isEmpty) return read({});
  const planned = await read({
    onMissing: (hash) => {
      atWork.note(hash);
      elsewhere.note(hash);
    },
  });
  atWork.refuse();
  const { found } = elsewhere;
  if (found.length === 0) return planned;
  for (const each of elsewhere.notices()) onProgress?.(noticed(each));
  const uuids = new Set(found.map(({ batchUuid }) => batchUuid));
  const withoutResults: Record<WhyLost, LaunchedBatch[]> = { failed: [], gone: [], late: [] };
  try {
    await collectLaunched(elsewhere, {
      ...settings,
      history,
      service: client,
      isWanted: ({ batchUuid }) => uuids.has(batchUuid),
      mayBeLate: (batch) => batch.run !== replaces?.name,
      onLost: (batch, why) => {
        withoutResults[why].push(batch);
        onLost?.(batch.batchUuid);
      },
    });
    for (const why of ['failed', 'gone', 'late'] as const) {
      if (withoutResults[why].length === 0) continue;
      const figures = elsewhere.figuresOf(withoutResults[why]);
      onProgress?.(noticed(notice('launched_elsewhere_lost', { ...figures, why })));
    }
  } finally {
    history.release(elsewhere);
  }
  return read({ isAgain: true });
}
