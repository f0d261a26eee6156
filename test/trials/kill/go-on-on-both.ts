import { expect } from 'vitest';
import { eventsOf, parseLog } from '../../cli/harness/logged-events.js';
import type { KilledRun } from './killed-run.js';

/** In which order two machines go on with the same run. */
export const machineOrders = ['original first', 'copy first', 'at once'] as const;
export type MachineOrder = (typeof machineOrders)[number];

/** Goes on with a run on its machine, unless it is over there, and on the one that has a copy of its state. */
export async function goOnOnBoth(
  run: KilledRun,
  copy: KilledRun,
  { order, output }: { readonly order: MachineOrder; readonly output: Buffer },
): Promise<void> {
  const goOn = async (machine: KilledRun): Promise<void> => {
    if (machine === run && (await run.isOver())) return;
    const { code, stderr } = await machine.attempt();
    expect(code, `${order}: ${stderr}`).toBe(0);
    if (machine === run) return;
    const log = { events: parseLog(stderr) };
    expect(eventsOf(log, 'older_state')).toMatchObject([{ is_copied: true }]);
  };
  const machines = order === 'copy first' ? [copy, run] : [run, copy];
  if (order === 'at once') await Promise.all(machines.map(goOn));
  else for (const machine of machines) await goOn(machine);
  for (const machine of machines) await machine.expectWhole(output);
}
