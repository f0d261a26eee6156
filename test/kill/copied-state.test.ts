import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { KilledRun, twoAtATime, undisturbed } from './killed-run.js';

/** How many trials; the number is given with `npm run test:kill -- --copies 200`. */
const wanted = Number(process.env['SLUICE_COPIES'] ?? 20);

const orders = ['original first', 'copy first', 'at once'] as const;

/** Copies a run's state at a random moment, kills the run then or later, and goes on on both machines. */
async function copyOnce(
  order: (typeof orders)[number],
  { output, lengthMs }: { readonly output: Buffer; readonly lengthMs: number },
): Promise<boolean> {
  const run = await KilledRun.begin();
  try {
    const kill = new AbortController();
    const first = run.attempt({ killedBy: kill.signal });
    const copy = await run.copyAfter(lengthMs * 0.4 * Math.random());
    await sleep(Math.random() < 0.5 ? 0 : lengthMs * 0.3 * Math.random());
    kill.abort();
    await first;
    if (!copy.hasState) return false;
    const goOn = async (machine: KilledRun): Promise<void> => {
      if (machine === run && (await run.isOver())) return;
      const { code, stderr } = await machine.attempt();
      expect(code, `${order}: ${stderr}`).toBe(0);
      if (machine !== run) expect(stderr).toContain('the state directory was copied or restored');
    };
    const machines = order === 'copy first' ? [copy.run, run] : [run, copy.run];
    if (order === 'at once') await Promise.all(machines.map(goOn));
    else for (const machine of machines) await goOn(machine);
    for (const machine of machines) await machine.expectWhole(output);
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
    const order = orders[number % orders.length] ?? 'at once';
    if (await copyOnce(order, { output, lengthMs })) trials += 1;
  });
  console.log(`went on ${trials} times with a run and its copy`);
});
