import type { Batch } from '../batches/batch.js';
import { verificationTypes } from '../contract/enums.js';

/**
 * What is to be said of a budget that is too small for all batches of a type. It stops nothing: what fits
 * is launched, and a batch that the service takes in parts only may fit in parts.
 */
export function budgetNotices(
  batches: readonly Batch[],
  maxCredits: number | undefined,
): readonly string[] {
  if (maxCredits === undefined) return [];
  return verificationTypes.flatMap((type) => {
    const sizes = batches.flatMap(({ lane, addresses }) => (lane.type === type ? [addresses] : []));
    const needed = sizes.reduce((sum, size) => sum + size, 0);
    if (needed <= maxCredits) return [];
    const smallest = sizes.reduce((least, size) => Math.min(least, size));
    const outcome =
      smallest > maxCredits
        ? `not even the smallest batch, of ${smallest}, fits; raise \`maxCredits\` or lower \`batchSize\``
        : 'the run stops with 5 before it is done';
    return [
      `${needed} ${type} credits are needed at most, and \`maxCredits\` allows ${maxCredits}: ${outcome}`,
    ];
  });
}
