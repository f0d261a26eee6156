import { ConfigurationError, describeStart, describeStatus, type RunStatus } from '../../index.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';

/**
 * Says what is lost with an unfinished run that was paid for, and has whoever is at the terminal agree to
 * it. Of a run that has paid nothing, nothing is said.
 *
 * @param what how the run is dropped, such as `--fresh`
 * @throws ConfigurationError when the person does not agree, or is not there
 */
export async function agreeToLose(
  what: string,
  status: RunStatus,
  {
    isAgreed,
    forgets = false,
    person,
    warn,
    signal,
  }: {
    /** Whether a finished run is known by this alone, so that the same command would pay again. @default false */
    readonly forgets?: boolean;
    /** Whether it was agreed to on the command line: it is only said then. */
    readonly isAgreed: boolean;
    readonly person: Person;
    /** Says it where it was agreed to, also when quiet. */
    readonly warn: (line: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { launchedCredits, isFinished, service } = status;
  const isPaid = service !== 'local' && launchedCredits.email + launchedCredits.phone > 0;
  if (!isPaid || (isFinished && !forgets)) return;
  const loss = isFinished
    ? `${what} drops the record of the run of ${describeStart(status)}, which is finished: the same command then pays for all of it again`
    : `${what} drops the run of ${describeStart(status)} and what it has paid: ${describeStatus(status).soFar}`;
  if (isAgreed) {
    warn(loss);
    return;
  }
  if (!isInteractive(person)) throw new ConfigurationError(`${loss}; add --yes to drop it`);
  if (await agrees(`${loss}. Drop it?`, person, signal)) return;
  throw new ConfigurationError(
    `stopped; nothing was sent or deleted${isFinished ? '' : ': the same command as before resumes the run'}`,
  );
}

/** What is said of batches that were paid for and whose results were not fetched. */
export function launchedLine(names: readonly string[]): string {
  return `launched and paid, so not deleted from the service: ${names.join(', ')}`;
}
