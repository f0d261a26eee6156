/** A share of a run that is far from what it usually is; all numbers are from 0 to 1. */
interface OddShare {
  readonly type: string;
  readonly share: keyof typeof shareWords;
  readonly now: number;
  readonly usual: number;
  /** How far from the usual a share may be without being odd. */
  readonly allowed: number;
}

const shareWords = {
  valid: 'valid results',
  wrong: 'wrong results',
  unknown: 'unknown results',
  new: 'addresses that had to be paid for',
} as const;

export function oddSentence({ type, share, now, usual, allowed }: OddShare): string {
  const from = percent(Math.max(0, usual - allowed));
  const to = percent(Math.min(1, usual + allowed));
  return `${type}: ${percent(now)} ${shareWords[share]}, usually ${percent(usual)} (${from} to ${to})`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
