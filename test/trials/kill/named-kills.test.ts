import { execFile, type ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { ServiceOptions } from '../../../src/service/index.js';
import { goOnOnBoth, machineOrders } from './go-on-on-both.js';
import { KilledRun, twoAtATime, undisturbed } from './killed-run.js';

type Kill = readonly [record: string, mode: 'before' | 'torn' | 'after'];

/**
 * After the records of a run; before and in the middle of some that are written ahead of what costs. Every write,
 * in each of these ways, is `journal-kills.test.ts`.
 */
const kills: readonly Kill[] = [
  ['journal', 'torn'],
  ['run', 'after'],
  ['plan', 'after'],
  ['batch 1 uploading', 'torn'],
  ['batch 2 uploading', 'after'],
  ['batch 4 uploaded', 'after'],
  ['batch 0 parsing', 'after'],
  ['batch 1 ready', 'after'],
  ['batch 3 launching', 'torn'],
  ['batch 4 launching', 'after'],
  ['batch 1 verifying', 'after'],
  ['batch 2 done', 'after'],
  ['batch 4 exported', 'after'],
  ['finished', 'before'],
  ['finished', 'torn'],
  ['finished', 'after'],
];

/** Kills a run at each of these records, and lets it go on. */
async function killAt(cases: readonly Kill[], options: ServiceOptions = {}): Promise<void> {
  const { output } = await undisturbed(options);
  await twoAtATime(cases, async ([record, mode]) => {
    const run = await KilledRun.begin(options);
    try {
      const { signal, stderr } = await run.attempt({
        env: { KILL_RECORD: record, KILL_MODE: mode },
      });
      expect(signal, `${mode} ${record}: ${stderr}`).toBe('SIGKILL');
      await run.complete();
      await run.expectWhole(output);
    } finally {
      await run.close();
    }
  });
}

it('is whole and pays once, killed at each record of its journal', async () => {
  await killAt(kills);
});

it('is so, too, when its batches are too large and are sent in parts', async () => {
  const records = ['batch 0 split', 'part 0 launching', 'part 1 exported'];
  await killAt(
    records.map((record) => [record, 'after'] as const),
    { maxFileSizeBytes: 160 },
  );
});

/** What the system calls the state of a process: `T` where it is stopped. */
async function stateOf({ pid }: ChildProcess): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]);
  return stdout;
}

/** The first machine is killed when the copy is made, or comes to its end. */
const copies = machineOrders.map((order) =>
  order === 'at once'
    ? { order, record: 'batch 2 uploaded', isKilled: false }
    : { order, record: 'batch 1 launching', isKilled: true },
);

it('is whole on both machines and pays once, its state copied at a record and gone on with', async () => {
  const { output } = await undisturbed();
  await twoAtATime(copies, async ({ order, record, isKilled }) => {
    const run = await KilledRun.begin();
    try {
      const { child, ended, says } = run.start({ env: { KILL_RECORD: record, KILL_MODE: 'stop' } });
      await says(`stopped after ${record}`);
      const copy = await run.copy();
      expect(copy.hasState).toBe(true);
      // It says so right before it is: a signal to go on that comes in between would be lost.
      await expect.poll(() => stateOf(child)).toMatch(/^T/);
      child.kill(isKilled ? 'SIGKILL' : 'SIGCONT');
      await ended;
      await goOnOnBoth(run, copy.run, { order, output });
    } finally {
      await run.close();
    }
  });
});
