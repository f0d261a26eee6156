import { expect, it } from 'vitest';
import type { ServiceOptions } from '../../../src/service/index.js';
import { KilledRun, seed, twoAtATime, undisturbed } from './killed-run.js';

/** Of the kills one part in so many is made, drawn by chance; given with `npm run test:kill -- --parts 2`. */
const parts = Number(process.env['SLUICE_KILL_PARTS'] ?? 1);

/** Kills one run at each write of its journal, in each of these ways. */
async function killAtEveryWrite(
  modes: readonly ('before' | 'torn' | 'after')[],
  options: ServiceOptions = {},
): Promise<void> {
  const { output, writes } = await undisturbed(options);
  expect(writes).toBeGreaterThan(20);
  const drawn = seed % parts;
  const all = Array.from({ length: writes }, (_, index) =>
    modes.map((mode) => ({ mode, at: index + 1 })),
  ).flat();
  const cases = all.filter((_, index) => index % parts === drawn);
  let kills = 0;
  await twoAtATime(cases, async ({ mode, at }) => {
    const run = await KilledRun.begin(options);
    try {
      const env = { KILL_AT: String(at), KILL_MODE: mode, KILL_COUNT_FILE: run.path('writes') };
      const { code, signal, stderr } = await run.attempt({ env });
      if (signal === 'SIGKILL') {
        kills += 1;
        await run.complete();
      } else {
        expect(code, stderr).toBe(0);
        // Writes that come close together may share one: this run had fewer.
        expect(await run.writes()).toBeLessThan(at);
      }
      await run.expectWhole(output);
    } finally {
      await run.close();
    }
  });
  console.log(
    `killed at ${kills} journal writes of ${cases.length} planned, part ${drawn + 1} of ${parts}`,
  );
  expect(kills).toBeGreaterThan(0);
}

it('is whole and pays once, killed at any write of its journal', async () => {
  await killAtEveryWrite(['before', 'torn', 'after']);
});

it('is so, too, when its batches are too large and are sent in parts', async () => {
  // What was being written when the process died counts for nothing: the test above shows that.
  await killAtEveryWrite(['after'], { maxFileSizeBytes: 160 });
});
