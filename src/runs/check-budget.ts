import type { Batch } from '../batches/batch.js';
import { verificationTypes } from '../contract/enums.js';
import { BudgetError } from '../errors/family.js';

/** What a budget does to a plan. */
interface BudgetTrouble {
  readonly message: string;
  /** Whether not one batch fits. */
  readonly isHopeless: boolean;
}

/** Where a budget is too small for all batches of a type; nowhere where it is enough. */
export function budgetTroubles(
  batches: readonly Batch[],
  maxCredits: number | undefined,
): readonly BudgetTrouble[] {
  if (maxCredits === undefined) return [];
  return verificationTypes.flatMap((type) => {
    const sizes = batches.flatMap(({ lane, addresses }) => (lane.type === type ? [addresses] : []));
    const needed = sizes.reduce((sum, size) => sum + size, 0);
    if (needed <= maxCredits) return [];
    const smallest = sizes.reduce((least, size) => Math.min(least, size));
    const isHopeless = smallest > maxCredits;
    const outcome = isHopeless
      ? `not one batch can be launched (the smallest needs ${smallest})`
      : 'the run stops with 5 before it is done';
    const message = `${needed} ${type} credits are needed at most, and --max-credits allows ${maxCredits}: ${outcome}`;
    return [{ message, isHopeless }];
  });
}

/**
 * Says before anything is sent what the budget does not allow.
 *
 * @throws BudgetError where nothing could be launched
 */
export function checkBudget(
  batches: readonly Batch[],
  maxCredits: number | undefined,
  onNotice: (message: string) => void,
): void {
  const troubles = budgetTroubles(batches, maxCredits);
  const needsAll = verificationTypes.filter((type) =>
    batches.some(({ lane }) => lane.type === type),
  ).length;
  if (troubles.length > 0 && troubles.filter(({ isHopeless }) => isHopeless).length === needsAll) {
    throw new BudgetError(
      `${troubles.map(({ message }) => message).join('; ')}; nothing was sent: raise --max-credits or lower --batch-size`,
    );
  }
  for (const { message } of troubles) onNotice(message);
}
