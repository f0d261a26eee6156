import * as z from 'zod';
import type { CountryCode } from '../../contract/countries.js';
import { emailQualities, emailResults, type VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import { emailRecord, phoneRecord } from '../../contract/records.js';
import { beforeDeadline, type Clock } from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/promises.js';

const emailVerdict = z.object({
  ...emailRecord.omit({ email: true }).shape,
  quality: z.enum(emailQualities),
  result: z.enum(emailResults),
});

/** An email's result record (spec 2.7) without the address. */
export type EmailVerdict = Readonly<z.infer<typeof emailVerdict>>;

const phoneVerdict = z.object({
  ...phoneRecord.omit({ phone: true }).shape,
  current_network_mcc: z.string().nullable(),
  current_network_mnc: z.string().nullable(),
  operator: z.string().nullable(),
});

/** A phone's result record (spec 2.7) without the number. */
export type PhoneVerdict = Readonly<z.infer<typeof phoneVerdict>>;

export const verdict = z.union([emailVerdict, phoneVerdict]);
export type Verdict = EmailVerdict | PhoneVerdict;

/** Verifies the addresses of one batch by external servers: answers arrive in any order. */
export interface LiveVerification {
  /**
   * Accepts an address; its verdict is reported later, until `end`.
   *
   * @param putOff number of deferrals so far, reported when it changes: a deferred address is not queried at
   * once. @default 0
   * @returns `false` when too many wait for the same server: offer it again later
   */
  offer(
    address: string,
    report: (verdict: Verdict) => void,
    putOff?: { readonly times: number; readonly report: (times: number) => void },
  ): boolean;
  /** Whether it can accept nothing now. */
  readonly isFull: boolean;
  /**
   * Resolves when an address was settled since the last call, in any batch; rejects when the work has failed,
   * and with the signal's reason.
   */
  moved(): Promise<void>;
  /** Nothing more is offered or awaited. */
  end(): void;
}

/**
 * Verifies addresses, some thousand at a time, in order. Exactly one of `valid`, `wrong` and `unknown` is
 * true in a verdict, and equal verdicts should be the same object: results are few, addresses are many.
 *
 * An offline engine answers synchronously; one with a network returns a promise and ends when the signal
 * aborts. Batches go through `live`, if it exists.
 */
export interface VerificationEngine {
  verifyEmails(
    addresses: readonly string[],
    signal: AbortSignal,
  ): readonly EmailVerdict[] | Promise<readonly EmailVerdict[]>;
  verifyPhones(
    addresses: readonly string[],
    country: CountryCode,
    signal: AbortSignal,
  ): readonly PhoneVerdict[] | Promise<readonly PhoneVerdict[]>;
  /** Begins verifying a batch; absent for synchronous engines. */
  live?(
    group: { readonly type: VerificationType; readonly country: CountryCode },
    signal: AbortSignal,
  ): LiveVerification;
  /** Ends pending work; called by the service when it closes. */
  close?(): void;
}

const timeUp = new Error('the time is up');

interface OneAddress {
  readonly type: VerificationType;
  readonly address: string;
  readonly country: CountryCode;
}

/**
 * Verifies one address while somebody waits: "it may take 5 seconds at most" (spec 1), even if the engine
 * ignores its signal.
 *
 * @returns `undefined` when the time is up
 */
export async function judgeOne(
  engine: VerificationEngine,
  { type, address, country }: OneAddress,
  clock: Clock,
): Promise<Verdict | undefined> {
  const judge = async (signal: AbortSignal): Promise<readonly Verdict[]> =>
    type === 'email'
      ? engine.verifyEmails([address], signal)
      : engine.verifyPhones([address], country, signal);
  try {
    const [verdict] = await beforeDeadline(async (signal) => orAborted(judge(signal), signal), {
      clock,
      ms: limits.unitVerificationMs,
      toError: () => timeUp,
    });
    return verdict;
  } catch (error) {
    if (error === timeUp) return undefined;
    throw error;
  }
}

/** The waiting side of a live verification: resolves when something has changed. */
interface LiveWork {
  /** Aborts with the signal, and at the end: nobody waits for queries under it any more. */
  readonly signal: AbortSignal;
  /** Passes on a result, unless nobody waits for it any more. */
  report<Known>(to: (known: Known) => void, known: Known): void;
  fail(error: unknown): void;
  readonly moved: () => Promise<void>;
  /** Detaches it from the signal and the watchers. */
  readonly end: () => void;
}

/** @param watchers called whenever something is settled, in any batch */
export function createLiveWork(signal: AbortSignal, watchers: Set<() => void>): LiveWork {
  const ending = new AbortController();
  let hasMoved = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    hasMoved = true;
    wake?.();
  };
  signal.addEventListener('abort', notify, { once: true });
  watchers.add(notify);
  return {
    signal: AbortSignal.any([signal, ending.signal]),
    report(to, known) {
      if (signal.aborted || ending.signal.aborted) return;
      to(known);
      notify();
    },
    fail(error) {
      failure ??= { error };
      notify();
    },
    async moved() {
      signal.throwIfAborted();
      if (!hasMoved) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = undefined;
      hasMoved = false;
      signal.throwIfAborted();
      if (failure) throw failure.error;
    },
    end() {
      watchers.delete(notify);
      signal.removeEventListener('abort', notify);
      ending.abort();
    },
  };
}
