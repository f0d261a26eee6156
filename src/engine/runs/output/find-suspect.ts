import { verificationTypes } from '../../../contract/enums.js';
import { OutcomeTally } from '../../summary/outcome-tally.js';
import type { PassOne } from '../planning/pass-one.js';
import type { MaxUnknown } from '../options/run-options.js';

const rowsAtOnce = 16_384;

/**
 * Whether more of the verified cells of a type are unknown than may be. It is known before the first row
 * is written: the tickets alone tell.
 *
 * @throws OutputError
 */
export async function isSuspect(
  { percent }: Pick<MaxUnknown, 'percent'>,
  { plan, tickets, entry }: Pick<PassOne, 'plan' | 'tickets' | 'entry'>,
): Promise<boolean> {
  const tally = new OutcomeTally(plan);
  const reader = tickets.read();
  try {
    for (let row = 0; row < entry.rows; row += rowsAtOnce) {
      const rows = Math.min(rowsAtOnce, entry.rows - row);
      const portion = await reader.next(rows * plan.width);
      tally.add(portion.map((ticket) => plan.book.outcome(ticket)));
    }
  } finally {
    await reader.close();
  }
  return verificationTypes.some((type) => {
    const { buckets, verdicts } = tally.of(type);
    return verdicts.unknown * 100 > buckets.verified * percent;
  });
}
