import { abandonRun, isSluiceError, readRunStatus, type RunStatus } from '../../index.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { ParsedOptions } from '../command.js';
import { connect, type PatienceOption, type Target } from '../service/connect.js';
import { agreeToLose, launchedLine } from './confirm-discard.js';
import type { Reporter } from '../terminal/reporter.js';
import { counted } from '../../platform/text/shown-numbers.js';

/**
 * Says what is lost with the run that `--fresh` drops, and asks. Deletes what it has on the service, when
 * `--delete-batches` or the person at the terminal says so; says what is left there otherwise. Batches of
 * the local service in this process go with the state directory.
 *
 * @throws ConfigurationError when the person at the terminal keeps the run; ApiError when the service cannot be asked
 */
export async function dropOldRun(
  stateDir: string,
  {
    target,
    options,
    person,
    reporter,
    signal,
  }: {
    readonly target: Target;
    readonly options: ParsedOptions<PatienceOption | 'quiet' | 'yes' | 'delete-batches'>;
    readonly person: Person;
    readonly reporter: Reporter;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const status = await findStatus(stateDir);
  if (!status) return;
  await agreeToLose('--fresh', status, {
    // The option says what is wanted: a nightly command goes on without a person.
    isAgreed: options.has('yes') || !isInteractive(person),
    person,
    warn: (line) => reporter.tell([{ event: 'dropped', line, isUrgent: true }]),
    signal,
  });
  if (status.service === 'local' || status.uploads === 0) return;
  const tell = (line: string): void => {
    reporter.tell([{ event: 'dropped', line }]);
  };
  const there = `${counted(status.uploads, 'batch')} of the unfinished run that is dropped ${status.uploads === 1 ? 'is' : 'are'} on ${status.service}`;
  if (target.kind === 'local' || target.baseUrl !== status.service) {
    tell(`${there}, and stay there`);
    return;
  }
  const mayDelete =
    options.has('delete-batches') ||
    (!options.has('quiet') &&
      isInteractive(person) &&
      (await agrees(`${there}. Delete them?`, person, signal)));
  if (!mayDelete) {
    tell(`${there}, and stay there; --fresh with --delete-batches deletes them`);
    return;
  }
  const connection = await connect(target, options, undefined, { tell: reporter.trouble });
  try {
    const { deleted, left, launched } = await abandonRun({
      stateDir,
      client: connection.client,
      exportedToo: true,
      signal,
    });
    tell(`deleted ${counted(deleted, 'batch')} of the run that is dropped`);
    if (left.length > 0) tell(`still on the service: ${left.join(', ')}`);
    if (launched.length > 0) tell(launchedLine(launched));
  } catch (error) {
    if (!isSluiceError(error, 'state_mismatch')) throw error;
    tell(`${there}, in another account, and stay there`);
  } finally {
    await connection.close();
  }
}

/** A run that cannot be read is dropped all the same. */
async function findStatus(stateDir: string): Promise<RunStatus | undefined> {
  try {
    return await readRunStatus(stateDir);
  } catch {
    return undefined;
  }
}
