/** Longest wait that a service is given when it asks for one, in milliseconds. */
export const longestRetryAfterMs = 5 * 60 * 1000;

/** The three forms of an HTTP date; `Date.parse` alone would read a date into nearly anything. */
const httpDate =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun), \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} gmt|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} \d{2}:\d{2}:\d{2} gmt|(?:mon|tue|wed|thu|fri|sat|sun) [a-z]{3} [\d ]\d \d{2}:\d{2}:\d{2} \d{4})$/i;

const seconds = /^[+-]?\d{1,400}(?:\.\d{1,20})?(?:e\+?\d{1,3})?$/i;

/** When an answer was given, as far as it can be known. */
export interface AnswerTime {
  /** The answer's `Date` header: a date is compared with the clock that wrote it, where it is known. */
  readonly date?: string | undefined;
  /** This machine's clock, in milliseconds since the epoch. */
  readonly wallNowMs: number;
}

/**
 * Reads `Retry-After`: seconds or a date, clamped to zero and five minutes.
 *
 * @returns milliseconds, or `undefined` when the header is absent or makes no sense
 */
export function parseRetryAfter(value: string | undefined, time: AnswerTime): number | undefined {
  const text = value?.trim() ?? '';
  if (seconds.test(text)) return clamp(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return clamp(until - (parseHttpDate(time.date?.trim() ?? '') ?? time.wallNowMs));
}

/** Reads an HTTP date: milliseconds since the epoch, or `undefined` when it is none. */
function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  // The asctime form names no zone and means GMT.
  const parsed = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(parsed) ? undefined : parsed;
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, 0), longestRetryAfterMs);
}
