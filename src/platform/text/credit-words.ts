import { counted, grouped } from './shown-numbers.js';

/** Credits by verification type. */
export interface CreditCounts {
  readonly email: number;
  readonly phone: number;
}

/** `3,000 email and 20 phone credits`; `undefined` for none. */
export function describeCredits({ email, phone }: CreditCounts): string | undefined {
  if (email > 0 && phone > 0) {
    return `${grouped(email)} email and ${counted(phone, 'phone credit')}`;
  }
  if (email === 0 && phone === 0) return undefined;
  return email > 0 ? counted(email, 'email credit') : counted(phone, 'phone credit');
}

/** What the earlier runs of a list have cost whose results a run has used: its own credits are without them. */
export function earlierCreditsSentence(credits: CreditCounts): string {
  return `earlier runs, whose results were used, cost ${describeCredits(credits) ?? 'nothing'} more`;
}
