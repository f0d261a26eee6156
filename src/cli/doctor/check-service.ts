import { ApiError, Client, TransportError, type RequestReport } from '../../index.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import type { Surroundings } from '../command.js';
import type { Target } from '../service/connect.js';
import { exitCodes } from '../exit-code.js';
import { localNotice } from '../service/local-notice.js';
import { failed, noted, passed, type Check } from './check.js';

/** Whoever asks what works does not want to wait for what does not. */
const patienceMs = 4000;
/** A clock that is further off confuses whoever reads its times. */
const mostClockMs = 60_000;

/** Whether the service is reached, takes the key, has credits, and has the same time. */
export async function checkService(
  target: Target,
  { signal, clock }: Pick<Surroundings, 'signal' | 'clock'>,
): Promise<readonly Check[]> {
  if (target.kind === 'local') {
    return [
      target.isOnPurpose ? passed('service', 'the local one') : noted('service', localNotice),
    ];
  }
  let report: RequestReport | undefined;
  const client = new Client({
    baseUrl: target.baseUrl,
    apiKey: target.apiKey,
    timeoutMs: patienceMs,
    connectTimeoutMs: patienceMs,
    totalTimeoutMs: patienceMs,
    // What is refused for so long is not silent.
    giveUpAfterMs: patienceMs / 2,
    // What is wrong with it is said once, by the check.
    onTrouble: () => undefined,
    onRequest: (made) => {
      report = made;
    },
  });
  const dead = AbortSignal.timeout(patienceMs);
  const { baseUrl } = client;
  try {
    const { email_credit: email, phone_credit: phone } = await client.credits({
      signal: AbortSignal.any([signal, dead]),
    });
    const credits = `${grouped(email)} email, ${grouped(phone)} phone`;
    return [
      passed('service', `${baseUrl} answered in ${Math.round(report?.ms ?? 0)} ms`),
      passed('key', 'taken'),
      email + phone > 0
        ? passed('credits', credits)
        : failed('credits', `${credits}: buy some`, exitCodes.creditsUsedUp),
      ...checkClock(report, clock),
    ];
  } catch (error) {
    signal.throwIfAborted();
    const status = report?.status;
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      return [
        passed('service', `${baseUrl} answers`),
        failed('key', error),
        ...checkClock(report, clock),
      ];
    }
    const broken = transportErrorIn(error);
    const silence = broken
      ? `cannot reach ${new URL(baseUrl).host}: ${broken.reason}`
      : `${baseUrl} has not answered within ${patienceMs / 1000} s`;
    const isSilent = broken !== undefined || (dead.aborted && status === undefined);
    return [
      isSilent ? failed('service', silence, exitCodes.serviceFailing) : failed('service', error),
      ...checkClock(report, clock),
    ];
  } finally {
    await client.close();
  }
}

function transportErrorIn(error: unknown): TransportError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof TransportError) return at;
  }
  return undefined;
}

function checkClock(
  report: RequestReport | undefined,
  clock: Surroundings['clock'],
): readonly Check[] {
  const theirs = Date.parse(report?.date ?? '');
  if (Number.isNaN(theirs)) return [];
  const offMs = clock.wallNow() - theirs;
  const text = `${grouped(Math.round(Math.abs(offMs) / 1000))} s ${offMs < 0 ? 'behind' : 'before'} the service's`;
  // A Date has whole seconds.
  if (Math.abs(offMs) < 2000) return [passed('clock', "the service's, to the second")];
  return [
    Math.abs(offMs) > mostClockMs
      ? noted('clock', `${text}: set this machine's`)
      : passed('clock', text),
  ];
}
