import { expect, it } from 'vitest';
import type { ServiceOptions } from '../../src/service/index.js';
import { KilledRun, twoAtATime, undisturbed } from './killed-run.js';

/** Kills one run at each write of its journal, in each of these ways. */
async function killAtEveryWrite(
  modes: readonly ('before' | 'torn' | 'after')[],
  options: ServiceOptions = {},
): Promise<void> {
  const { output, writes } = await undisturbed(options);
  expect(writes).toBeGreaterThan(20);
  const cases = Array.from({ length: writes }, (_, index) =>
    modes.map((mode) => ({ mode, at: index + 1 })),
  ).flat();
  let kills = 0;
  await twoAtATime(cases, async ({ mode, at }) => {
    const run = await KilledRun.begin(options);
    try {
      const env = { KILL_AT: String(at), KILL_MODE: mode };
      const { code, signal, stderr } = await run.attempt({ env });
      // Writes that come close together may share one: then this run had fewer, and was not killed.
      if (signal === 'SIGKILL') kills += 1;
      else expect(code, stderr).toBe(0);
      if (signal === 'SIGKILL') await run.complete();
      await run.expectWhole(output);
    } finally {
      await run.close();
    }
  });
  console.log(`killed at ${kills} journal writes of ${cases.length} planned`);
  // How many share one is a matter of load; the least that any run writes is far more than these.
  expect(kills).toBeGreaterThan(cases.length / 2);
}

it('is whole and pays once, killed at any write of its journal', async () => {
  await killAtEveryWrite(['before', 'torn', 'after']);
});

it('is so, too, when its batches are too large and are sent in parts', async () => {
  // What was being written when the process died counts for nothing: the test above shows that.
  await killAtEveryWrite(['after'], { maxFileSizeBytes: 160 });
});
