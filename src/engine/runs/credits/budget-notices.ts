import type { Batch } from '../../batches/batch.js';
import type { CreditBalance } from '../../../contract/bodies.js';
import { verificationTypes, type VerificationType } from '../../../contract/enums.js';
import { type Notice, notice } from '../../../platform/text/notices.js';

/**
 * What is to be said of a budget that is too small for all batches of a type. It stops nothing: what fits
 * is launched, and a batch that the service takes in parts only may fit in parts.
 */
export function budgetNotices(
  batches: readonly Batch[],
  maxCredits: number | undefined,
): readonly Notice[] {
  if (maxCredits === undefined) return [];
  return verificationTypes.flatMap((type) => {
    const { needed, smallest } = needOf(batches, type);
    if (needed <= maxCredits) return [];
    return [notice('budget_short', { type, needed, allowed: maxCredits, smallest })];
  });
}

/**
 * What is to be said of an account with too few credits. It stops nothing: somebody may add some while what
 * fits is verified.
 */
export function balanceNotices(
  batches: readonly Batch[],
  balance: CreditBalance,
): readonly Notice[] {
  const types = verificationTypes.flatMap((type) => {
    const has = balance[`${type}_credit`];
    const { needed, smallest } = needOf(batches, type);
    return needed > has ? [{ type, has, needed, fits: smallest <= has }] : [];
  });
  return types.length === 0 ? [] : [notice('balance_short', { types })];
}

/** What the batches of a type need before refunds; none of them, nothing. */
function needOf(
  batches: readonly Batch[],
  type: VerificationType,
): { readonly needed: number; readonly smallest: number } {
  const sizes = batches.flatMap(({ group, addresses }) => (group.type === type ? [addresses] : []));
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  return { needed, smallest: sizes.reduce((least, size) => Math.min(least, size), needed) };
}
