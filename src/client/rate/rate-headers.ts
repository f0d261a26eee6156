/** Content of `X-RateLimit-*` headers. The specification does not show them: used where present. */
export interface RateLimit {
  readonly remaining: number;
  readonly limit: number | undefined;
  /** Time to the next window in milliseconds, if given; at most an hour. */
  readonly resetMs: number | undefined;
}

/** A header's only value, or the first of several. */
export type HeaderReader = (name: string) => string | undefined;

export function parseRateLimit(header: HeaderReader, time: AnswerTime): RateLimit | undefined {
  const remaining = leadingNumber(header('x-ratelimit-remaining'));
  const limit = leadingNumber(header('x-ratelimit-limit'));
  // A service that takes no requests at all does not answer them.
  if (remaining === undefined || limit === 0) return undefined;
  return {
    remaining,
    limit,
    resetMs: parseReset(header('x-ratelimit-reset'), time),
  };
}

/** A longer window is not waited for. */
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

export const longestRetryAfterMs = 5 * 60 * 1000;

/** The three forms of an HTTP date; `Date.parse` alone accepts nearly anything. */
const httpDate =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun), \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} gmt|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} \d{2}:\d{2}:\d{2} gmt|(?:mon|tue|wed|thu|fri|sat|sun) [a-z]{3} [\d ]\d \d{2}:\d{2}:\d{2} \d{4})$/i;

const seconds = /^[+-]?\d{1,400}(?:\.\d{1,20})?(?:e\+?\d{1,3})?$/i;

/** When an answer was given, as far as known. */
interface AnswerTime {
  /** The answer's `Date` header: dates are compared with the clock that wrote them, where known. */
  readonly date?: string | undefined;
  readonly wallNowMs: number;
}

/**
 * Reads `Retry-After`: seconds or a date, clamped to zero and five minutes.
 *
 * @returns whole milliseconds, or `undefined` for an absent or invalid header
 */
export function parseRetryAfter(value: string | undefined, time: AnswerTime): number | undefined {
  const text = value?.trim() ?? '';
  if (seconds.test(text)) return clamp(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return clamp(until - (parseHttpDate(time.date?.trim() ?? '') ?? time.wallNowMs));
}

function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  // The asctime form names no zone and means GMT.
  const parsed = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(parsed) ? undefined : parsed;
}

function clamp(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), longestRetryAfterMs);
}
