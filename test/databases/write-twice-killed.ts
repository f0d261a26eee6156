import { expect } from 'vitest';
import type { Sink, Source } from '../../src/index.js';
import { dieBehind } from './die-behind.js';
import { startVerifying } from './verify-rows.js';

/**
 * Kills a run behind its commit and has it run again: it must neither pay nor write once more.
 *
 * @param touch marks the rows that stand in the table
 */
export async function writeTwiceKilled(
  run: { readonly source: Source; readonly sink: Sink },
  touch: () => unknown,
): Promise<void> {
  const verifying = await startVerifying();
  const killed = new Error('killed');
  const whole = { ...run, email: ['email'] };
  await expect(verifying.run({ ...whole, sink: dieBehind(run.sink, killed) })).rejects.toBe(killed);
  await touch();
  const paid = await verifying.charges();
  await verifying.run(whole);
  expect(await verifying.charges()).toBe(paid);
}
