const remedies: ReadonlyMap<string, string> = new Map([
  ['budget_exhausted', 'with a higher `maxCredits`'],
  ['payment_required', 'once the account has credits'],
]);

/**
 * What has to be changed before a run gets further that had too few credits.
 *
 * @param reason the code of what stopped it
 * @returns `undefined` where it was something else
 */
export function remedyForCredits(reason: string | null | undefined): string | undefined {
  return remedies.get(reason ?? '');
}
