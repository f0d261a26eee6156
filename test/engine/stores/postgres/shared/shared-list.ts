import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Service, ServiceOptions } from '../../../../../src/service/index.js';
import { startFront } from '../../../../cli/harness/front.js';
import { runInProcess } from '../../../../cli/harness/run-in-process.js';
import { startSluice, type Ended, type Running } from '../../../../cli/harness/run-sluice.js';
import {
  withService,
  withFolder,
  paidAddresses,
  expectPaidOnce,
} from '../../../../service/with-service.js';
import { newName } from '../../../../lists/sql/harness/new-name.js';

export const addresses = 60;
const list = [
  'id,email',
  ...Array.from({ length: addresses }, (_, index) => `${index},good${index}@sluice.test`),
  `${addresses},good7@sluice.test`,
  '',
].join('\n');

export const job = [
  'verify',
  'list.csv',
  '--email',
  'email',
  '--country',
  'US',
  '--batch-size',
  '5',
];
export const quick = [...job, '--concurrency', '2', '--poll-interval', '20'];
export const inStore = ['--store', 'env:SLUICE_STORE'];

/** A list, a service that takes a second for a batch, and a run in the tests' database. */
export class SharedList {
  readonly run = newName();
  readonly cwd: string;
  service: Service;
  /** Of the service, or of a front of it. */
  #baseUrl: string;

  private constructor(cwd: string, service: Service) {
    this.cwd = cwd;
    this.service = service;
    this.#baseUrl = service.baseUrl;
  }

  static async make(): Promise<SharedList> {
    const cwd = await withFolder();
    await writeFile(join(cwd, 'list.csv'), list);
    const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 1000 });
    return new SharedList(cwd, service);
  }

  /** Has another service in the place of the first. */
  async serve(options: ServiceOptions = {}): Promise<void> {
    ({ service: this.service } = await withService({ apiKey: 'a-key', ...options }));
    this.#baseUrl = this.service.baseUrl;
  }

  /** Has a front of the service in its place. */
  serveAt(baseUrl: string): void {
    this.#baseUrl = baseUrl;
  }

  /**
   * Answers nothing of a batch that was launched until it is let go: each process that comes gets batches, and
   * keeps them.
   */
  async hold(): Promise<{ letGo(): void; launches(): number }> {
    let letGo = (): void => undefined;
    const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
    const launched: string[] = [];
    const front = await startFront(this.service, async (request) => {
      const [, method, batch = ''] = /^(\w+) \/v1\/batch\/([^/]+)$/.exec(request) ?? [];
      if (method === 'POST') launched.push(batch);
      else if (method === 'GET' && launched.includes(batch)) await isLetGo;
      return undefined;
    });
    this.#baseUrl = front.baseUrl;
    return { letGo, launches: () => launched.length };
  }

  /** Starts the command beside the list. */
  start(...args: readonly string[]): Running {
    return this.startWith({}, ...args);
  }

  /** @param changes of the environment */
  startWith(changes: Readonly<Record<string, string>>, ...args: readonly string[]): Running {
    const { cwd, env } = this.#place;
    return startSluice(args, { cwd, env: { ...env, ...changes } });
  }

  /** Runs the command beside the list to its end, without a process. */
  async call(...args: readonly string[]): Promise<Ended> {
    return runInProcess(args, this.#place);
  }

  get #place() {
    const env = {
      SLUICE_BASE_URL: this.#baseUrl,
      SLUICE_API_KEY: 'a-key',
      SLUICE_STORE: inject('postgresUrl'),
    };
    return { cwd: this.cwd, env };
  }

  /** The arguments of a process that works on the run. */
  get ofRun(): readonly string[] {
    return [...quick, '-o', 'out.csv', ...inStore, '--run', this.run];
  }

  /** Starts a process that works on the run. */
  work(...args: readonly string[]): Running {
    return this.start(...this.ofRun, ...args);
  }

  async charges(): Promise<readonly string[]> {
    return paidAddresses(this.service);
  }

  async expectPaidOnce(): Promise<void> {
    await expectPaidOnce(this.service, addresses);
  }
}
