import { type BatchState, isLaunchInDoubt, mayHaveLaunched } from '../batches/batch-state.js';
import type { Charge } from '../batches/status-answer.js';
import type { CreditSummary } from './figures.js';

/** A batch of a run that has stopped. */
export interface PaidBatch {
  readonly state: BatchState;
  readonly addresses: number;
  readonly charge?: Charge | null | undefined;
  /** As in `BatchProgress`. */
  readonly replacedCharge?: Charge | null | undefined;
}

/** What a run that has stopped has paid: a batch of unknown cost costs at most its addresses. */
export function launchedCredits(batches: readonly PaidBatch[]): CreditSummary {
  const inDoubt = batches
    .filter(({ state }) => isLaunchInDoubt(state))
    .reduce((total, { addresses }) => total + addresses, 0);
  const launched = batches.filter(({ state }) => mayHaveLaunched(state) && !isLaunchInDoubt(state));
  const replaced = batches
    .filter(({ replacedCharge }) => replacedCharge !== undefined)
    .map(({ replacedCharge: charge, addresses }) => ({ charge, addresses }));
  const costs = [...launched, ...replaced];
  const isComplete = inDoubt === 0 && costs.every(({ charge }) => charge);
  const sum = (of: (cost: (typeof costs)[number]) => number): number =>
    costs.reduce((total, cost) => total + of(cost), 0);
  return {
    spent: sum(({ charge, addresses }) => charge?.spent ?? addresses),
    refunded: isComplete ? sum(({ charge }) => charge?.refunded ?? 0) : null,
    net: isComplete ? sum(({ charge }) => charge?.net ?? 0) : null,
    source: isComplete ? 'cost_objects' : 'launched',
    ...(inDoubt > 0 && { in_doubt: inDoubt }),
  };
}
