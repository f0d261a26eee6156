import { optionName } from '../platform/text/option-name.js';

/**
 * What has to be changed before a run gets further that had too few credits.
 *
 * @param reason the code of what stopped it
 * @returns `undefined` where it was something else
 */
export function remedyForCredits(reason: string | null | undefined): string | undefined {
  if (reason === 'budget_exhausted') return `with a higher ${optionName('maxCredits')}`;
  return reason === 'payment_required' ? 'once the account has credits' : undefined;
}
