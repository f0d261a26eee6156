import { stat } from 'node:fs/promises';
import { ConfigurationError, readRunStatus, showPlace, type RunOptions } from '../../index.js';
import { counted } from '../../platform/text/shown-numbers.js';
import { agrees, isInteractive, type Person } from '../terminal/ask-person.js';
import type { ParsedOptions } from '../command.js';
import type { Target } from '../service/connect.js';
import { pathOf, type NamedPlace } from '../endpoints/list-places.js';
import type { Said } from '../messages/run-lines.js';

/**
 * The file or folder that a new run would replace, where nothing keeps it from paying again for what the
 * last one has paid for.
 *
 * @returns `undefined` where there is none, a history is given, or the service is free
 */
export async function replacedOutput(
  to: NamedPlace,
  target: Target,
  options: ParsedOptions<'history' | 'store'>,
): Promise<string | undefined> {
  const path = pathOf(to);
  if (path === undefined || target.kind === 'local') return undefined;
  if (options.has('history') || options.has('store')) return undefined;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true || found?.isDirectory() === true ? showPlace(path) : undefined;
}

/** Said even when quiet: whoever repeats a finished command may think that it is resumed. */
export function paidAgainLine(output: string, addresses: number): Said {
  const all = addresses === 1 ? 'its address' : `all ${counted(addresses, 'address')}`;
  return {
    event: 'paid_again',
    fields: { output, addresses },
    line: `this is a new run: it replaces ${output} and pays for ${all}; --history <file> keeps the results, and a later run pays only for what is new`,
    isUrgent: true,
  };
}

/**
 * Asks whoever is at the terminal, before anything is read, whether a new run shall replace an output and
 * pay again. Where an unfinished run is resumed or dropped, nothing is asked here.
 *
 * @throws ConfigurationError when the person does not agree
 */
export async function agreeToPayAgain(
  output: string,
  stateDir: string,
  person: Person,
  signal: AbortSignal,
): Promise<void> {
  if (!isInteractive(person)) return;
  const status = await readRunStatus(stateDir).catch(() => undefined);
  // What is paid for and was not read is asked for first, and used.
  if (status && (!status.isFinished || status.retry.exports > 0)) return;
  const question = `${output} is there. This is a new run: it replaces it, and pays for all its addresses, also those that are paid already. Start it?`;
  if (await agrees(question, person, signal)) return;
  throw new ConfigurationError(
    `stopped; nothing was sent, and ${output} is untouched: name another output (-o), or add --history <file>, so that a later run pays only for what is new`,
  );
}

/** Says it once the list is read and before anything is sent, unless an unfinished run is resumed. */
export function withPaidAgain(
  onProgress: RunOptions['onProgress'],
  output: string,
  tell: (said: Said) => void,
): NonNullable<RunOptions['onProgress']> {
  let isResumed = false;
  return (progress) => {
    onProgress?.(progress);
    if (progress.stage === 'going_on') isResumed = true;
    if (progress.stage !== 'read' || isResumed || progress.toSend === 0) return;
    tell(paidAgainLine(output, progress.toSend));
  };
}
