import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Client } from '../../../src/client/client.js';
import { systemClock, type Clock } from '../../../src/platform/waiting/clock.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { fileSource } from '../../../src/lists/files/file-source.js';
import { History } from '../../../src/engine/history/history.js';
import type { HistoryOptions } from '../../../src/engine/history/history-options.js';
import type { RunOptions } from '../../../src/engine/runs/options/run-options.js';
import { run } from '../../../src/engine/runs/run.js';
import type { Summary } from '../../../src/engine/summary/summary.js';
import type { Service, ServiceOptions } from '../../../src/service/index.js';
import { withFolder, withService, paidAddresses } from '../../service/with-service.js';
import type { Given } from '../../platform/given.js';

const dayMs = 86_400_000;

/** A clock that shows another day; waits take no longer for it. */
export function daysLater(days: number): Clock {
  return { ...systemClock, wallNow: () => systemClock.wallNow() + days * dayMs };
}

/** The same list, night after night, on one service with one history. */
export class Nights {
  readonly folder: string;
  readonly service: Service;
  readonly client: Client;

  private constructor(folder: string, service: Service) {
    this.folder = folder;
    this.service = service;
    this.client = new Client(service);
    onTestFinished(async () => this.client.close());
  }

  static async begin(options: ServiceOptions = {}): Promise<Nights> {
    const folder = await withFolder();
    const { service } = await withService(options);
    return new Nights(folder, service);
  }

  get historyPath(): string {
    return join(this.folder, 'history');
  }

  async open(options: Partial<HistoryOptions> = {}): Promise<History> {
    return History.open({ path: this.historyPath, service: this.service.baseUrl, ...options });
  }

  /** One night: what stands in the list, by name, is verified. */
  async night(
    names: readonly string[],
    changes: Given<RunOptions> = {},
    options: Partial<HistoryOptions> = {},
  ): Promise<Summary> {
    const { clock, files } = changes;
    const history = await this.open({
      ...(clock && { clock }),
      ...(files && { files }),
      ...options,
    });
    try {
      return await this.runWith(names, { history, ...changes });
    } finally {
      await history.close();
    }
  }

  async runWith(names: readonly string[], changes: Given<RunOptions> = {}): Promise<Summary> {
    const rows = names.map((name, index) => `${index},${name}`);
    await writeFile(join(this.folder, 'list.csv'), ['id,email', ...rows, ''].join('\n'));
    return run({
      source: fileSource(join(this.folder, 'list.csv')),
      sink: fileSink(join(this.folder, 'out.csv')),
      client: this.client,
      stateDir: join(this.folder, 'run'),
      email: ['email'],
      country: 'US',
      batchSize: 3,
      concurrency: 1,
      pollIntervalMs: 1,
      ...changes,
    });
  }

  async output(): Promise<string> {
    return readFile(join(this.folder, 'out.csv'), 'utf8');
  }

  /** Addresses that were paid for so far, in order. */
  async charges(): Promise<readonly string[]> {
    return paidAddresses(this.service);
  }
}

/** Addresses that the local service finds good. */
export function goodNames(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, index) => `good${index + from}@sluice.test`);
}
