import type { Summary } from '../index.js';
import { oddSentence, percent } from '../words/odd-sentence.js';
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
      `${type}: ${signed(now.addresses - before.addresses)} addresses`,
      `${shareOfUnknown(now)} unknown (${shareOfUnknown(before)} before)`,
      `${now.addresses - now.from_history} paid for (${before.addresses - before.from_history} before)`,
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

function shareOfUnknown({ verdicts }: Pick<NonNullable<Summary['email']>, 'verdicts'>): string {
  const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  return percent(verified === 0 ? 0 : verdicts.unknown / verified);
}

function signed(count: number): string {
  return count > 0 ? `${count} more` : count < 0 ? `${-count} fewer` : 'as many';
}
