import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { limits } from '../../contract/limits.js';
import type { Clock } from '../../system/clock.js';
import type { Verdict, VerificationEngine } from './engine.js';

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
  const answered = new AbortController();
  const timeUp = new AbortController();
  const giveUp = clock.sleep(limits.unitVerificationMs, answered.signal).then(
    () => timeUp.abort(),
    () => undefined,
  );
  const judge = async (): Promise<readonly Verdict[]> =>
    type === 'email'
      ? engine.verifyEmails([address], timeUp.signal)
      : engine.verifyPhones([address], country, timeUp.signal);
  try {
    const verdicts = await Promise.race([judge(), giveUp.then(() => undefined)]);
    return verdicts?.[0];
  } catch (error) {
    // An engine that gave up because it was told to.
    if (timeUp.signal.aborted) return undefined;
    throw error;
  } finally {
    answered.abort();
  }
}
