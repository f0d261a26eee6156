import type { Batch } from '../../batches/batch.js';
import type { CreditBalance } from '../../../contract/bodies.js';
import { verificationTypes, type VerificationType } from '../../../contract/enums.js';
import { counted, grouped } from '../../../platform/text/shown-numbers.js';
import { optionName } from '../../../platform/text/option-name.js';

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
    const { needed, smallest } = needOf(batches, type);
    if (needed <= maxCredits) return [];
    const outcome =
      smallest > maxCredits
        ? `not even the smallest batch, of ${grouped(smallest)}, fits; raise ${optionName('maxCredits')} or lower ${optionName('batchSize')}`
        : 'the run may stop before it is done, with exit code 5';
    return [
      `${counted(needed, `${type} credit`)} ${needed === 1 ? 'is' : 'are'} needed at most, and ${optionName('maxCredits')} allows ${grouped(maxCredits)}: ${outcome}`,
    ];
  });
}

/**
 * What is to be said of an account with too few credits. It stops nothing: somebody may add some while what
 * fits is verified.
 *
 * @returns `undefined` where there are enough
 */
export function balanceNotice(
  batches: readonly Batch[],
  balance: CreditBalance,
): string | undefined {
  const short = verificationTypes.flatMap((type) => {
    const has = balance[`${type}_credit`];
    const { needed, smallest } = needOf(batches, type);
    return needed > has ? [{ type, has, needed, fits: smallest <= has }] : [];
  });
  if (short.length === 0) return undefined;
  const counts = short.map(
    ({ type, has, needed }) =>
      `${counted(has, `${type} credit`)} of ${grouped(needed)} needed at most`,
  );
  const outcome = short.every(({ fits }) => fits)
    ? 'the run may stop before it is done, with exit code 5'
    : 'not even the smallest batch can be launched';
  return `the account has ${counts.join(' and ')}: ${outcome}; add credits, or lower ${optionName('batchSize')} to use more of what there is, as a batch is launched whole or not at all`;
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

/** What processes that share a run may use together. @param most `null` where there is no limit */
export function budgetWords(most: number | null): string {
  return most === null ? 'as many credits as it takes' : `${counted(most, 'credit')} of each type`;
}
