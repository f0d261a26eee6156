import type { VerificationType } from '../../../contract/enums.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { groupNumber } from '../../addresses/address.js';
import {
  type BatchState,
  isAtEnd,
  isLaunchInDoubt,
  mayHaveLaunched,
  retried,
} from '../../batches/batch-state.js';
import { type Batch, readLines } from '../../batches/batch.js';
import { heldCredits } from '../../batches/claim.js';
import { pending } from '../../plan/address-book.js';
import type { Plan } from '../../plan/plan.js';
import { addressOf } from '../../plan/line-hashes.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import { addressesOf, hasPaid, spentBefore, type RunState } from '../../stores/run-state.js';
import { type LeftToSend, nothingLeft, type SizedBatch } from '../credits.js';
import { earlierBatches } from '../planning/batch-files.js';
import {
  isOver,
  isPlanned,
  isRetryAsked,
  type PlannedRun,
  type RetryChoice,
} from './compare-run.js';

/** Whether a launch surely arrived: one in doubt may have to be repeated. */
function isLaunched(state: BatchState): boolean {
  return mayHaveLaunched(state) && !isLaunchInDoubt(state);
}

/** The state in which a run takes a batch up; a launch that was lost is not expected to have arrived. */
function takenUp(state: BatchState, run: RetryChoice): BatchState {
  return run.retryFailed === true ? retried(state, false, isRetryAsked(run)) : state;
}

/** What a run that is resumed, or whose failed addresses are sent again, has not launched. */
export function leftOfRun(state: PlannedRun, run: RetryChoice): LeftToSend {
  const batches: SizedBatch[] = [];
  const launched = spentBefore(state);
  const unsent = state.plan.batches.map(({ type, country, addresses }) => ({
    group: { type: type as VerificationType, country },
    addresses,
  }));
  for (const entry of state.batches.values()) {
    const whole = unsent[entry.batch];
    if (!whole || entry.state.stage === 'split') continue;
    const { group } = whole;
    const addresses = addressesOf(state, entry);
    whole.addresses -= addresses;
    const { spent, reserved } = heldCredits(addresses, entry);
    launched[group.type] += spent + (isLaunchInDoubt(entry.state) ? 0 : reserved);
    const taken = takenUp(entry.state, run);
    if (!isAtEnd(taken) && !isLaunched(taken)) batches.push({ group, addresses });
  }
  batches.push(...unsent.filter(({ addresses }) => addresses > 0));
  return { batches, launched };
}

/** What a shared run has not launched; `undefined` where it has not begun. */
export function leftOfShared(state: RunState, run: RetryChoice): LeftToSend | undefined {
  if (isOver(state, run.retryFailed)) return nothingLeft;
  return isPlanned(state) ? leftOfRun(state, run) : undefined;
}

/** What a run that replaces the one in a state directory sends of its list. @param options.plan of the list */
export async function leftOfList({
  files,
  stored,
  plan,
  batches,
  batchSize,
  keepsBudget = false,
  ...retry
}: RetryChoice & {
  readonly files: FileSystem;
  readonly stored: DirectoryState;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly batchSize: number;
  /** Whether the run has the budget of the one it replaces. @default false */
  readonly keepsBudget?: boolean;
}): Promise<LeftToSend> {
  const { state } = stored;
  const left = new Map<number, { readonly group: SizedBatch['group']; addresses: number }>();
  for (const { group, addresses } of batches) {
    const known = left.get(groupNumber(group));
    if (known) known.addresses += addresses;
    else left.set(groupNumber(group), { group, addresses });
  }
  const isCarried = new Uint8Array(plan.book.size);
  const runs = [...state.earlier, ...(isPlanned(state) ? [state] : [])];
  for (const run of runs.filter(hasPaid)) {
    for (const { batch, entry } of await earlierBatches(files, stored, run)) {
      if (!isLaunched(takenUp(entry.state, retry))) continue;
      const number = groupNumber(batch.group);
      const ofGroup = left.get(number);
      if (!ofGroup) continue;
      for await (const line of readLines(batch)) {
        const address = addressOf(batch, line);
        const found = 'key' in address ? plan.book.table.find(number, address.key) : -1;
        if (found === -1 || isCarried[found] === 1 || plan.book.outcome(found) !== pending)
          continue;
        isCarried[found] = 1;
        ofGroup.addresses -= 1;
      }
    }
  }
  return {
    launched:
      keepsBudget && isPlanned(state) ? leftOfRun(state, retry).launched : nothingLeft.launched,
    batches: [...left.values()].flatMap((each) => cut(each, batchSize)),
  };
}

function cut({ group, addresses }: SizedBatch, batchSize: number): readonly SizedBatch[] {
  return Array.from({ length: Math.ceil(addresses / batchSize) }, (_, at) => ({
    group,
    addresses: Math.min(batchSize, addresses - at * batchSize),
  }));
}
