import { HttpProblem } from './http-problem.js';

const minuteMs = 60_000;
/** Most remembered clients; beyond that, those without debt are forgotten. */
const mostRequesters = 10_000;
/** Rounding error of sums, in milliseconds. */
const toleranceMs = 1e-6;

/** A client's usage: each request costs its share of a minute, which time pays off. */
interface Debt {
  ms: number;
  countedAtMs: number;
}

/** Decides whether a client may make another request. */
export interface RateLimiter {
  /**
   * Counts a request of a client.
   *
   * @returns headers with the rest
   */
  take(client: string): Readonly<Record<string, string>>;
}

/** A token bucket for each client: `perMinute` requests at once, refilled evenly. */
export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const debts = new Map<string, Debt>();
  const requestMs = minuteMs / perMinute;

  function payOff(debt: Debt): void {
    const atMs = now();
    debt.ms = Math.max(0, debt.ms - Math.max(0, atMs - debt.countedAtMs));
    debt.countedAtMs = atMs;
  }

  function debtOf(client: string): Debt {
    let debt = debts.get(client);
    if (debt === undefined) {
      if (debts.size >= mostRequesters) forgetPaid();
      debt = { ms: 0, countedAtMs: now() };
      debts.set(client, debt);
    }
    payOff(debt);
    return debt;
  }

  function forgetPaid(): void {
    for (const [client, debt] of debts) {
      payOff(debt);
      if (debt.ms === 0) debts.delete(client);
    }
  }

  return {
    take(client) {
      const debt = debtOf(client);
      const waitMs = debt.ms + requestMs - minuteMs;
      const isAllowed = waitMs <= toleranceMs;
      if (isAllowed) debt.ms += requestMs;
      const left = Math.floor((minuteMs - debt.ms + toleranceMs) / requestMs);
      const headers = {
        'X-RateLimit-Limit': String(perMinute),
        'X-RateLimit-Remaining': String(Math.max(0, left)),
      };
      if (isAllowed) return headers;
      throw new HttpProblem(429, 'Too Many Requests', {
        headers: { ...headers, 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      });
    },
  };
}
