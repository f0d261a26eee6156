import { expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { KilledRun, seed, twoAtATime, undisturbed } from './killed-run.js';

/** How many kills; the number is given with `npm run test:kill -- --kills 2000`. */
const wanted = Number(process.env['SLUICE_KILLS'] ?? 300);

it('is whole and pays once, killed at random moments again and again', async () => {
  const begunMs = performance.now();
  const { output } = await undisturbed();
  /** How long a run takes: on a busy machine another time than a moment ago. */
  let lengthMs = performance.now() - begunMs;
  const random = new Random(seed);
  let kills = 0;
  function* runs(): Generator<number> {
    for (let number = 0; kills < wanted; number += 1) yield number;
  }
  await twoAtATime(runs(), async () => {
    const run = await KilledRun.begin();
    try {
      // Most moments lie behind the start of the process, which takes about half of the time.
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const killAfterMs = lengthMs * (0.3 + 0.9 * random.next());
        const startedMs = performance.now();
        const { code, signal, stderr } = await run.attempt({ killAfterMs });
        if (signal !== 'SIGKILL') {
          expect(code, stderr).toBe(0);
          lengthMs = performance.now() - startedMs;
          break;
        }
        kills += 1;
        if (await run.isOver()) break;
        if (attempt === 3) await run.complete();
      }
      await run.expectWhole(output);
    } finally {
      await run.close();
    }
  });
  console.log(`killed ${kills} times at random`);
});
