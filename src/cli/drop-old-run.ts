import { createInterface } from 'node:readline/promises';
import { abandonRun, isSluiceError, readRunStatus, type RunStatus } from '../index.js';
import type { ParsedOptions } from './command.js';
import { launchedLine } from './commands/abandon.js';
import { connect, type Target } from './connect.js';

/** Whoever runs the command, as far as there is somebody. */
export interface Person {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/**
 * Deletes what the run that `--fresh` drops has on the service, when `--delete-batches` or the person at
 * the terminal says so; says what is left there otherwise. Batches of the local service in this process
 * go with the state directory.
 *
 * @throws ApiError when the service cannot be asked
 */
export async function dropOldRun(
  stateDir: string,
  {
    target,
    options,
    person,
    signal,
  }: {
    readonly target: Target;
    readonly options: ParsedOptions;
    readonly person: Person;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const status = await findStatus(stateDir);
  if (!status || status.service === 'local' || status.uploads === 0) return;
  const say = (line: string): void => {
    if (!options.has('quiet')) person.output.write(`sluice: ${line}\n`);
  };
  const there = `${status.uploads} batches of the unfinished run that is dropped are on ${status.service}`;
  if (target.kind === 'local' || target.baseUrl !== status.service) {
    say(`${there}, and stay there`);
    return;
  }
  if (!options.has('delete-batches') && !(await agrees(there, options, person, signal))) {
    say(`${there}, and stay there; --fresh with --delete-batches deletes them`);
    return;
  }
  const connection = await connect(target, options, undefined);
  try {
    const { deleted, left, launched } = await abandonRun({
      stateDir,
      client: connection.client,
      exportedToo: true,
      signal,
    });
    say(`deleted ${deleted} batches of the run that is dropped`);
    if (left.length > 0) say(`still on the service: ${left.join(', ')}`);
    if (launched.length > 0) say(launchedLine(launched));
  } catch (error) {
    if (!isSluiceError(error, 'state_mismatch')) throw error;
    say(`${there}, in another account, and stay there`);
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

async function agrees(
  there: string,
  options: ParsedOptions,
  { input, output }: Person,
  signal: AbortSignal,
): Promise<boolean> {
  if (!input.isTTY || !output.isTTY || options.has('quiet')) return false;
  const terminal = createInterface({ input, output });
  try {
    const answer = await terminal.question(`${there}. Delete them? [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
