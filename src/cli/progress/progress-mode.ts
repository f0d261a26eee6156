import type { ParsedOptions } from '../command.js';
import type { ProgressForm } from './progress-lines.js';

/** How a run shows how far it is. */
export type ProgressMode = 'live' | 'lines' | 'none';

/** What decides it beside the options. */
export interface ProgressSurroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Whether what is said is read at a terminal. */
  readonly isTerminal: boolean;
  /** Whether rows come out on that terminal, too. */
  readonly isOutputThere: boolean;
}

/** Lines are drawn where somebody watches and nothing else is written; logs get one now and then. */
export function progressMode(
  options: ParsedOptions<'quiet' | 'no-progress'>,
  { env, isTerminal, isOutputThere }: ProgressSurroundings,
): ProgressMode {
  if (options.has('quiet') || options.has('no-progress')) return 'none';
  const isDumb = env['TERM'] === 'dumb';
  return isTerminal && !isDumb && !isOutputThere ? 'live' : 'lines';
}

/** What a terminal shows, as far as its environment tells. */
export function progressForm(env: NodeJS.ProcessEnv, columns: number | undefined): ProgressForm {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return {
    columns: widthOf(columns),
    // no-color.org: set to anything but nothing.
    hasColour: !env['NO_COLOR'],
    isUnicode: /utf-?8/i.test(locale),
  };
}

/** Characters of a line; a terminal that does not know its width says 0. */
export function widthOf(columns: number | undefined): number {
  return columns === undefined || columns === 0 ? 80 : columns;
}
