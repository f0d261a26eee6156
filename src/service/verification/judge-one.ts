import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import { beforeDeadline } from '../../platform/waiting/before-deadline.js';
import type { Clock } from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/on-abort.js';
import type { Verdict, VerificationEngine } from './engine.js';

const timeUp = new Error('the time is up');

/** One address, and how it is to be read. */
export interface OneAddress {
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
