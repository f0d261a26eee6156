import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../servers/start-postgres.js';
import { KilledRun, undisturbed, type Started } from './killed-run.js';
import { lateMs, leaseMs, startSharedProcess, troubledService } from './shared-process.js';

type Blow = readonly [stage: string, signal: 'SIGKILL' | 'SIGSTOP'];

/**
 * What happens to the processes of each run, one after the other: a process alone gets to each stage, as there
 * are more batches than those that the processes before it have. After five silent owners a batch is given to
 * nobody: no run has so many.
 */
const runs: readonly (readonly Blow[])[] = [
  [
    ['uploading', 'SIGKILL'],
    ['launching', 'SIGKILL'],
    ['uploaded', 'SIGSTOP'],
    ['verifying', 'SIGSTOP'],
  ],
  [
    ['parsing', 'SIGKILL'],
    ['exported', 'SIGKILL'],
    ['launching', 'SIGSTOP'],
  ],
  [
    ['uploaded', 'SIGKILL'],
    ['done', 'SIGKILL'],
    ['exported', 'SIGSTOP'],
  ],
  [
    ['ready', 'SIGKILL'],
    ['verifying', 'SIGKILL'],
    ['uploading', 'SIGSTOP'],
    ['finished', 'SIGKILL'],
  ],
];

/** A run that processes share, from its first to its last. */
class StruckRun {
  readonly #run: KilledRun;
  readonly #store: string;
  readonly #name = randomUUID();
  readonly #started: Started[] = [];

  constructor(run: KilledRun, store: string) {
    this.#run = run;
    this.#store = store;
  }

  start(env: Readonly<Record<string, string>> = {}): Started {
    const started = startSharedProcess(this.#run, { name: this.#name, store: this.#store, env });
    this.#started.push(started);
    return started;
  }

  async strike(blows: readonly Blow[]): Promise<void> {
    for (const [stage, signal] of blows) {
      const { ended, says } = this.start({ STOP_AFTER: stage, STOP_WITH: signal });
      await says(`stopped after ${stage}`);
      if (signal === 'SIGKILL') expect((await ended).signal).toBe('SIGKILL');
    }
  }

  /** Wakes up those that were frozen, and waits for the end of all. */
  async toEnd(output: Buffer): Promise<void> {
    for (const { child } of this.#started) child.kill('SIGCONT');
    for (const { ended } of this.#started) {
      const { code, signal, stderr } = await ended;
      if (signal !== 'SIGKILL') expect(code, stderr).toBe(0);
    }
    // What was late has come by then.
    await sleep(lateMs);
    await this.#run.expectWhole(output);
  }

  async close(): Promise<void> {
    for (const { child } of this.#started) child.kill('SIGKILL');
    await this.#run.close();
  }
}

it('shares a run that is whole and paid once, its processes killed and frozen after each stage', async () => {
  const server = await startPostgres();
  onTestFinished(async () => server.stop());
  const { output } = await undisturbed();
  const struck = await Promise.all(
    runs.map(async (blows, at) => {
      const run = new StruckRun(await KilledRun.begin(troubledService(at)), server.url);
      onTestFinished(async () => run.close());
      await run.strike(blows);
      run.start();
      return run;
    }),
  );
  await server.crash();
  // Those that were frozen wake up when others have their batches.
  await sleep(leaseMs);
  await Promise.all(struck.map(async (run) => run.toEnd(output)));
});
