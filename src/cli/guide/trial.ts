import { basename } from 'node:path';
import type { Surroundings } from '../command.js';
import { placeOf } from '../endpoints/list-places.js';
import type { Said } from '../messages/run-lines.js';
import { standard } from '../endpoints/stdio.js';

/** A list of more rows is tried with its first rows, where that is paid for. */
export const manyRows = 1000;
export const trialRows = 100;

/** What a trial writes beside the output of all rows. */
export interface Trial {
  readonly output: string;
  /** Keeps its results, so that the run of all rows does not pay for them again. */
  readonly history: string;
}

/**
 * Names the files of a trial after the output of all rows.
 *
 * @returns `undefined` where there is no other output beside it
 * @throws ConfigurationError
 */
export function trialBeside(
  output: string,
  from: Pick<Surroundings, 'env' | 'cwd'>,
): Trial | undefined {
  const { path, database, remote } = placeOf(output, from);
  const isNamed = remote === undefined || remote.url === output;
  if (database || path === standard || !isNamed) return undefined;
  const name = basename(path);
  const ending = /\.[a-z]+(?:\.gz)?$/i.exec(name)?.[0] ?? '';
  const stem = path.slice(0, path.length - ending.length);
  return {
    output: `${stem}.trial${ending}`,
    history: `${remote ? basename(stem) : stem}.history`,
  };
}

export function historyLine({ history }: Trial): Said {
  return {
    event: 'proposed_history',
    fields: { history },
    line: `history: ${history} keeps the trial's results, so that the run of all rows does not pay for them again; it holds keyed hashes and results, no address`,
  };
}
