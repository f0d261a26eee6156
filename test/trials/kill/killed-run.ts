import { spawn, type ChildProcess } from 'node:child_process';
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createService, type Service, type ServiceOptions } from '../../../src/service/index.js';

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const killAtWrite = './kill-at-write.mjs';

/** Decides what is drawn; `npm run test:kill -- --seed 7` draws it again. */
export const seed = Number(process.env['SLUICE_KILL_SEED'] ?? 1);

/** Sixty rows, two batch groups, three batches, with duplicates and cells that cannot be lines. */
const list = [
  'id,email,country',
  ...Array.from({ length: 60 }, (_, index) => {
    const email =
      index % 15 === 7 ? '' : `${index % 4 === 1 ? 'bad' : 'good'}+${index % 50}@sluice.test`;
    return `${index},${email},${index % 3 === 0 ? 'DE' : 'US'}`;
  }),
  '',
].join('\n');

export interface Attempt {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A process that is started, and how it ends. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Attempt>;
  /** What it has printed so far. */
  readonly printed: () => string;
  /** Resolves when it has printed a text; rejects when it ends before. */
  readonly says: (text: string) => Promise<void>;
}

/** One list, one service, and as many processes as it takes. */
export class KilledRun {
  readonly #folder: string;
  readonly #service: Service;

  private constructor(folder: string, service: Service) {
    this.#folder = folder;
    this.#service = service;
  }

  static async begin(options: ServiceOptions = {}): Promise<KilledRun> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-kill-'));
    await writeFile(join(folder, 'list.csv'), list);
    return new KilledRun(folder, await createService(options));
  }

  /** Runs the command once. */
  async attempt(
    options: {
      readonly env?: Readonly<Record<string, string>>;
      readonly killAfterMs?: number;
      /** Aborted, it kills the process. */
      readonly killedBy?: AbortSignal;
    } = {},
  ): Promise<Attempt> {
    const { child, ended } = this.start(options);
    const timer =
      options.killAfterMs === undefined
        ? undefined
        : setTimeout(() => child.kill('SIGKILL'), options.killAfterMs);
    options.killedBy?.addEventListener('abort', () => child.kill('SIGKILL'));
    return ended.finally(() => clearTimeout(timer));
  }

  /** @param options.preload a module beside this one that is loaded in front of the command */
  start({
    env = {},
    preload = killAtWrite,
    args = ['--batch-size', '16', '--poll-interval', '5', '--json-log'],
  }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly preload?: string;
    readonly args?: readonly string[];
  }): Started {
    const before = ['--import', new URL(preload, import.meta.url).href, program];
    const job = ['verify', 'list.csv', '--email', 'email', '--country-column', 'country'];
    const child = spawn(process.execPath, [...before, ...job, '-o', 'out.csv', ...args], {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        SLUICE_BASE_URL: this.#service.baseUrl,
        SLUICE_API_KEY: this.#service.apiKey,
        ...env,
      },
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<Attempt>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, stderr }));
    });
    const says = async (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stderr.includes(text)) resolve();
        };
        child.stderr.on('data', look);
        look();
        void ended.then(() => reject(new Error(`"${text}" was not reported: ${stderr}`)), reject);
      });
    return { child, ended, printed: () => stderr, says };
  }

  /**
   * Whether the process was killed between its last act, which removes the journal, and its last
   * breath: the same command again would be another run.
   */
  async isOver(): Promise<boolean> {
    if (!(await readdir(this.#folder)).includes('out.csv')) return false;
    const state = join(this.#folder, 'out.csv.sluice');
    const left = await readdir(state).catch((): string[] => []);
    if (left.includes('journal')) return false;
    await rm(state, { recursive: true, force: true });
    return true;
  }

  /** Runs the command until it is done, undisturbed. */
  async complete(): Promise<void> {
    const { code, stderr } = await this.attempt();
    expect(code, stderr).toBe(0);
  }

  /** Everything that must hold when a run that was killed is done. */
  async expectWhole(reference: Buffer): Promise<void> {
    expect(await this.output()).toEqual(reference);
    await expect(stat(join(this.#folder, 'out.csv.sluice'))).rejects.toThrow(/ENOENT/);
    const paid = await this.expectPaidOnce();
    const allowed = [...(await this.#groups()).values()].reduce((sum, count) => sum + count, 0);
    expect(allowed).toBeGreaterThan(0);
    expect(paid).toBe(allowed);
  }

  /** @returns how many addresses are paid for, each at most once for each of its groups */
  async expectPaidOnce(): Promise<number> {
    const paid: string[] = [];
    for await (const { address } of this.#service.ledger()) paid.push(address);
    const groups = await this.#groups();
    for (const address of new Set(paid)) {
      const times = paid.filter((other) => other === address).length;
      expect(times, `charges of ${address}`).toBeLessThanOrEqual(groups.get(address) ?? 0);
    }
    return paid.length;
  }

  /** Resolves so long after the run has begun. */
  async begun(ms: number): Promise<void> {
    while (!(await this.#hasBegun())) await sleep(5);
    await sleep(ms);
  }

  /**
   * Copies the machine's folder to another one, as it is: what a backup or a second machine would have.
   *
   * @returns the other machine, and whether its state tells of a run
   */
  async copy(): Promise<{ readonly run: KilledRun; readonly hasState: boolean }> {
    const folder = join(this.#folder, 'copy');
    const run = new KilledRun(folder, this.#service);
    await mkdir(folder);
    await copyFile(join(this.#folder, 'list.csv'), join(folder, 'list.csv'));
    const state = join(this.#folder, 'out.csv.sluice');
    try {
      // Files come and go while it is copied; the journal first: what it tells of is on the disk.
      await mkdir(join(folder, 'out.csv.sluice'), { mode: 0o700 });
      await copyFile(join(state, 'journal'), join(folder, 'out.csv.sluice', 'journal'));
      await copyFile(join(state, 'lock'), join(folder, 'out.csv.sluice', 'lock'));
      await cp(join(state, 'results'), join(folder, 'out.csv.sluice', 'results'), {
        recursive: true,
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return { run, hasState: false };
    }
    return { run, hasState: await run.#hasBegun() };
  }

  /** Whether its journal tells of a run, or its output stands already. */
  async #hasBegun(): Promise<boolean> {
    if ((await readdir(this.#folder)).includes('out.csv')) return true;
    const journal = join(this.#folder, 'out.csv.sluice', 'journal');
    return (await readFile(journal, 'utf8').catch(() => '')).includes('"entry":"run"');
  }

  async output(): Promise<Buffer> {
    return readFile(join(this.#folder, 'out.csv'));
  }

  /** How many writes of its journal a process made that ended by itself and was asked to leave the number. */
  async writes(): Promise<number> {
    return Number(await readFile(this.path('writes'), 'utf8'));
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  async close(): Promise<void> {
    await this.#service.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** How often each address has to be paid for: once in each of its batch groups. */
  async #groups(): Promise<ReadonlyMap<string, number>> {
    const groups = new Map<string, Set<string>>();
    for (const line of list.split('\n').slice(1, -1)) {
      const [, email = '', country = ''] = line.split(',');
      if (email === '') continue;
      const countries = groups.get(email) ?? new Set();
      groups.set(email, countries.add(country));
    }
    return new Map([...groups].map(([email, countries]) => [email, countries.size]));
  }
}

/** The output and the number of journal writes of a run that nothing disturbs. */
export async function undisturbed(
  options: ServiceOptions = {},
): Promise<{ readonly output: Buffer; readonly writes: number }> {
  const run = await KilledRun.begin(options);
  try {
    const { code, stderr } = await run.attempt({ env: { KILL_COUNT_FILE: run.path('writes') } });
    expect(code, stderr).toBe(0);
    const output = await run.output();
    await run.expectWhole(output);
    return { output, writes: await run.writes() };
  } finally {
    await run.close();
  }
}

/** Does `work` for each item, two at a time: the machine has two cores. */
export async function twoAtATime<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next())
      await work(next.value);
  };
  await Promise.all([worker(), worker()]);
}
