import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Service } from '../../../src/service/index.js';
import { startSluice, type Running } from '../../cli/run-sluice.js';
import { withService } from '../../service/with-service.js';
import { temporaryFolder } from '../verify-rows.js';
import { newName } from '../new-name.js';

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

  private constructor(cwd: string, service: Service) {
    this.cwd = cwd;
    this.service = service;
  }

  static async make(): Promise<SharedList> {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'list.csv'), list);
    const { service } = await withService({ apiKey: 'a-key', verifyDelayMs: 1000 });
    return new SharedList(cwd, service);
  }

  /** Starts the command beside the list. */
  start(...args: readonly string[]): Running {
    const env = {
      SLUICE_BASE_URL: this.service.baseUrl,
      SLUICE_API_KEY: 'a-key',
      SLUICE_STORE: inject('postgresUrl'),
    };
    return startSluice(args, { cwd: this.cwd, env });
  }

  /** Starts a process that works on the run. */
  work(...args: readonly string[]): Running {
    return this.start(...quick, '-o', 'out.csv', ...inStore, '--run', this.run, ...args);
  }

  async charges(): Promise<readonly string[]> {
    const paid: string[] = [];
    for await (const { address } of this.service.ledger()) paid.push(address);
    return paid;
  }

  async expectPaidOnce(): Promise<void> {
    const paid = await this.charges();
    expect(new Set(paid).size).toBe(paid.length);
    expect(paid).toHaveLength(addresses);
  }
}
