import type { Summary } from '../../index.js';
import { oddSentence, percent } from '../../report/sentences/list-sentences.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import type { Said } from './run-lines.js';

/** What a run says of itself beside the one before. */
export function comparedLines(summary: Summary): readonly Said[] {
  const { compared } = summary;
  if (!compared?.previous) return [];
  const { previous } = compared;
  const parts = (['email', 'phone'] as const).flatMap((type) => {
    const [now, before] = [summary[type], previous[type]];
    if (!now || !before) return [];
    return [
      `${type}: ${change(now.addresses - before.addresses)}`,
      ...shareOfUnknown(now, before),
      `${grouped(now.addresses - now.from_history)} paid for (${grouped(before.addresses - before.from_history)} before)`,
    ].join(', ');
  });
  if (parts.length === 0) return [];
  const when = `${previous.finished_at.slice(0, 16).replace('T', ' ')} UTC`;
  return [{ event: 'compared', line: `compared with the run of ${when}: ${parts.join('; ')}` }];
}

/** What has moved oddly: somebody should look before the rows are used. */
export function oddLines({ compared }: Summary): readonly Said[] {
  return (compared?.odd ?? []).map((odd) => ({
    event: 'odd_share',
    isUrgent: true,
    fields: { ...odd },
    line: `warning: ${oddSentence(odd)}; look at the list and at the service before you use the results`,
  }));
}

type Verified = Pick<NonNullable<Summary['email']>, 'verdicts'>;

/** Nothing has no share. */
function shareOfUnknown(now: Verified, before: Verified): readonly string[] {
  const [share, earlier] = [now, before].map(({ verdicts }) => {
    const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
    return verified === 0 ? undefined : percent(verdicts.unknown / verified);
  });
  if (share === undefined) return [];
  return [`${share} unknown${earlier === undefined ? '' : ` (${earlier} before)`}`];
}

function change(count: number): string {
  if (count === 0) return 'as many addresses';
  return counted(Math.abs(count), count > 0 ? 'more address' : 'fewer address');
}
