import { setImmediate as turn } from 'node:timers/promises';

/** Turns of the event loop without a change that make it quiet. */
const quietTurns = 200;

/**
 * Resolves when a figure has stopped changing because nothing is left to happen: for whatever waits on
 * neither a timer nor the outside.
 */
export async function untilQuiet(figure: () => number): Promise<number> {
  let before = figure();
  for (let quiet = 0; quiet < quietTurns; quiet += 1) {
    await turn();
    const now = figure();
    if (now !== before) quiet = 0;
    before = now;
  }
  return before;
}
