import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InTurn } from '../../../src/platform/waiting/promises.js';
import { startPostgres } from '../../servers/start-postgres.js';
import { Random } from '../simulation/random.js';
import { KilledRun, seed, twoAtATime, undisturbed, type Started } from './killed-run.js';
import { lateMs, leaseMs, stages, startSharedProcess, troubledService } from './shared-process.js';

/** How many kills and freezes; the number is given with `npm run test:kill -- --shared 1000`. */
const wanted = Number(process.env['SLUICE_SHARED_KILLS'] ?? 40);

const random = new Random(seed);
const processes = 4;
/** A batch whose owners fell silent five times is given to nobody: fewer are silent for so long in a run. */
const mostSilent = 3;
const mostInARun = 12;

let server: Awaited<ReturnType<typeof startPostgres>>;
const restarting = new InTurn();
beforeAll(async () => {
  server = await startPostgres();
}, 120_000);
afterAll(async () => server.stop());

const counts = {
  kills: 0,
  freezes: 0,
  afterStages: new Map<string, number>(),
  restarts: 0,
  takeovers: 0,
};
const done = (): number => counts.kills + counts.freezes;

/** What happens to a process, and for how long it is frozen; not at all where it is killed. */
interface Blow {
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  readonly ms: number;
}

/** A run of four processes, another in the place of each that is killed. */
class DisturbedRun {
  readonly #run: KilledRun;
  readonly #name = randomUUID();
  readonly #living = new Set<Started>();
  #left = mostInARun;
  #silent = mostSilent;
  readonly #takeoversBefore = counts.takeovers;

  constructor(run: KilledRun) {
    this.#run = run;
  }

  async toEnd(): Promise<void> {
    const over = new AbortController();
    const striking = Promise.all([this.#strike(over.signal), this.#restart(over.signal)]);
    try {
      await Promise.all(Array.from({ length: processes }, async () => this.#work()));
    } finally {
      for (const { child } of this.#living) child.kill('SIGKILL');
      over.abort();
      await striking;
    }
  }

  async #work(): Promise<void> {
    for (let restored = 0; ;) {
      const blow = random.chance(0.8) ? this.#draw() : undefined;
      const stage = random.pick(stages);
      const started = this.#start(blow && { STOP_AFTER: stage, STOP_WITH: blow.signal });
      this.#living.add(started);
      if (blow) this.#afterStage(started, stage, blow);
      const { code, signal, stderr } = await started.ended;
      this.#living.delete(started);
      if (signal === 'SIGKILL') {
        counts.kills += 1;
        continue;
      }
      // A process that knew what its database has lost ends, once for each time.
      if (code === 7 && restored < counts.takeovers - this.#takeoversBefore) {
        restored += 1;
        continue;
      }
      expect(code, stderr).toBe(0);
      return;
    }
  }

  #start(env?: Readonly<Record<string, string>>): Started {
    return startSharedProcess(this.#run, {
      name: this.#name,
      store: server.url,
      ...(env && { env }),
    });
  }

  /** Within what the run bears. */
  #draw(): Blow | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    const isSilent = this.#silent > 0 && random.chance(0.5);
    if (!isSilent) return { signal: 'SIGSTOP', ms: random.between(50, 1000) };
    this.#silent -= 1;
    if (random.chance(0.6)) return { signal: 'SIGKILL', ms: 0 };
    return { signal: 'SIGSTOP', ms: random.between(leaseMs + 500, leaseMs + 3000) };
  }

  #afterStage(started: Started, stage: string, blow: Blow): void {
    const note = (): void => {
      if (!started.printed().includes(`stopped after ${stage}`)) return;
      started.child.stderr?.off('data', note);
      counts.afterStages.set(stage, (counts.afterStages.get(stage) ?? 0) + 1);
      this.#count(started, blow);
    };
    started.child.stderr?.on('data', note);
  }

  #count(started: Started, { signal, ms }: Blow): void {
    this.#living.delete(started);
    // It is counted when it has ended.
    if (signal === 'SIGKILL') return;
    counts.freezes += 1;
    setTimeout(() => {
      started.child.kill('SIGCONT');
      if (started.child.exitCode === null) this.#living.add(started);
    }, ms);
  }

  /** At random moments. */
  async #strike(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await sleep(random.between(200, 1500), undefined, { signal: over }).catch(() => undefined);
      const living = [...this.#living];
      const struck = living.length > 0 ? random.pick(living) : undefined;
      const blow = struck && this.#draw();
      if (!blow || !struck.child.kill(blow.signal)) continue;
      this.#count(struck, blow);
    }
  }

  /** Of two in three, the database is ended as a crash does, and starts again, or a copy without its last second does. */
  async #restart(over: AbortSignal): Promise<void> {
    const kind = random.pick(['none', 'restart', 'takeover'] as const);
    if (kind === 'none') return;
    await sleep(random.between(500, 6000), undefined, { signal: over }).catch(() => undefined);
    await restarting.next(async () => {
      if (over.aborted) return;
      if (kind === 'restart') {
        counts.restarts += 1;
        await server.crash();
        return;
      }
      await server.copy();
      await sleep(1000);
      counts.takeovers += 1;
      await server.failOver();
    });
  }
}

it('shares a run that is whole and paid once, its processes killed and frozen at random and after each stage', async () => {
  const { output } = await undisturbed();
  let number = 0;
  function* runs(): Generator<number> {
    for (; done() < wanted; number += 1) yield number;
  }
  await twoAtATime(runs(), async () => {
    const run = await KilledRun.begin(troubledService(random.between(0, 2 ** 32 - 1)));
    try {
      await new DisturbedRun(run).toEnd();
      // What was late has come by then.
      await sleep(lateMs);
      await run.expectWhole(output);
    } finally {
      await run.close();
    }
  });
  const afterStages = [...counts.afterStages].map(([stage, times]) => `${times} after ${stage}`);
  console.log(
    `killed ${counts.kills} processes and froze ${counts.freezes} in ${number} shared runs (${afterStages.join(', ')}); restarted the database ${counts.restarts} times, and had a copy without its last second take over ${counts.takeovers} times`,
  );
});
