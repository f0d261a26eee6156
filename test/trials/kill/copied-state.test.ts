import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { Random } from '../simulation/random.js';
import { goOnOnBoth, machineOrders, type MachineOrder } from './go-on-on-both.js';
import { KilledRun, seed, twoAtATime, undisturbed } from './killed-run.js';

/** How many trials; the number is given with `npm run test:kill -- --copies 200`. */
const wanted = Number(process.env['SLUICE_COPIES'] ?? 20);

const random = new Random(seed);

/** Copies a run's state at a random moment, kills the run then or later, and goes on on both machines. */
async function copyOnce(
  order: MachineOrder,
  { output, lengthMs }: { readonly output: Buffer; readonly lengthMs: number },
): Promise<boolean> {
  const run = await KilledRun.begin();
  try {
    const kill = new AbortController();
    const first = run.attempt({ killedBy: kill.signal });
    await run.begun(lengthMs * 0.4 * random.next());
    const copy = await run.copy();
    await sleep(random.chance(0.5) ? 0 : lengthMs * 0.3 * random.next());
    kill.abort();
    await first;
    if (!copy.hasState) return false;
    await goOnOnBoth(run, copy.run, { order, output });
    return true;
  } finally {
    await run.close();
  }
}

it('is whole on both machines and pays once, its state copied at a random moment and gone on with', async () => {
  const startedMs = performance.now();
  const { output } = await undisturbed();
  const lengthMs = performance.now() - startedMs;
  let trials = 0;
  function* runs(): Generator<number> {
    for (let number = 0; trials < wanted; number += 1) yield number;
  }
  await twoAtATime(runs(), async (number) => {
    const order = machineOrders[number % machineOrders.length] ?? 'at once';
    if (await copyOnce(order, { output, lengthMs })) trials += 1;
  });
  console.log(`went on ${trials} times with a run and its copy`);
});
