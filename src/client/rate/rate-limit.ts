import type { AnswerTime } from './retry-after.js';

/** What `X-RateLimit-*` headers say. The specification does not show them: used when they are there. */
export interface RateLimit {
  /** Requests that are left in the present window. */
  readonly remaining: number;
  /** Requests of a whole window, where it is said. */
  readonly limit: number | undefined;
  /** Time to the next window in milliseconds, where it is said; at most an hour. */
  readonly resetMs: number | undefined;
}

/** A header's only value, or the first of several. */
export type HeaderReader = (name: string) => string | undefined;

/** Reads `X-RateLimit-*`; `undefined` when nothing of use is said. */
export function parseRateLimit(header: HeaderReader, time: AnswerTime): RateLimit | undefined {
  const remaining = leadingNumber(header('x-ratelimit-remaining'));
  if (remaining === undefined) return undefined;
  return {
    remaining,
    limit: leadingNumber(header('x-ratelimit-limit')),
    resetMs: parseReset(header('x-ratelimit-reset'), time),
  };
}

/** A window that is said to be longer is not waited for. */
const longestWindowMs = 60 * 60 * 1000;

/** Seconds to wait, or the moment as seconds or milliseconds since the epoch: services differ. */
function parseReset(value: string | undefined, time: AnswerTime): number | undefined {
  const given = leadingNumber(value);
  if (given === undefined) return undefined;
  if (given < 1e9) return Math.min(given * 1000, longestWindowMs);
  const untilMs = given < 1e12 ? given * 1000 : given;
  const answeredMs = Date.parse(time.date ?? '');
  const resetMs = untilMs - (Number.isNaN(answeredMs) ? time.wallNowMs : answeredMs);
  return Math.min(Math.max(resetMs, 0), longestWindowMs);
}

function leadingNumber(value: string | undefined): number | undefined {
  const digits = /^\s*(\d{1,16})(?:\.\d+)?\s*(?:$|[,;])/.exec(value ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
