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

/** What is known of an email address: its result record (spec 2.7) without the address. */
export type EmailVerdict = Readonly<z.infer<typeof emailVerdict>>;

const phoneVerdict = z.object({
  ...phoneRecord.omit({ phone: true }).shape,
  current_network_mcc: z.string().nullable(),
  current_network_mnc: z.string().nullable(),
  operator: z.string().nullable(),
});

/** What is known of a phone number: its result record (spec 2.7) without the number. */
export type PhoneVerdict = Readonly<z.infer<typeof phoneVerdict>>;

/** A verdict as it is kept. */
export const verdict = z.union([emailVerdict, phoneVerdict]);
export type Verdict = EmailVerdict | PhoneVerdict;

/**
 * Judges the addresses of one batch by asking others: answers come when they come, in any order.
 */
export interface LiveVerification {
  /**
   * Takes an address on; its verdict is reported in time, and after `end` no more.
   *
   * @param putOff how often an answerer has asked to be asked later, to be reported when it changes: an
   *   address that was put off before is not asked for at once. @default never
   * @returns `false` when too many wait for the same answerer: it is to be offered again later
   */
  offer(
    address: string,
    report: (verdict: Verdict) => void,
    putOff?: { readonly times: number; readonly report: (times: number) => void },
  ): boolean;
  /** Whether it can take nothing on now. */
  readonly isFull: boolean;
  /**
   * Resolves when an address was settled since the last call, here or in another batch; rejects when
   * the work has failed, and with the signal's reason.
   */
  moved(): Promise<void>;
  /** Nothing more is offered or waited for. */
  end(): void;
}

/**
 * Judges addresses, some thousand at a time, in their order. Exactly one of `valid`, `wrong` and
 * `unknown` is true in a verdict, and verdicts that say the same should be the same object: results
 * are few, addresses are many.
 *
 * An engine that knows everything on this machine answers at once; one that has to ask a network
 * answers with a promise and gives up when the signal aborts. What it verifies for a batch goes through
 * `live` where it has one.
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
  /** Begins the verification of a batch; absent where answers come at once. */
  live?(
    group: { readonly type: VerificationType; readonly country: CountryCode },
    signal: AbortSignal,
  ): LiveVerification;
  /** Ends what is under way; the service that uses it calls it when it closes. */
  close?(): void;
}

const timeUp = new Error('the time is up');

/** One address, and how it is to be read. */
interface OneAddress {
  readonly type: VerificationType;
  readonly address: string;
  readonly country: CountryCode;
}

/**
 * Judges one address while somebody waits: "it may take 5 seconds at most" (spec 1), also by an
 * engine that does not heed its signal.
 *
 * @returns `undefined` when the time was up
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
