import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createService, type Service, type ServiceOptions } from '../../src/service/index.js';
import { TestClock } from '../../src/testing/test-clock.js';
import { Wire } from './wire.js';

/** A service that is closed after the test, whose defects fail it, and requests to it. */
export async function withService(
  options: ServiceOptions = {},
): Promise<{ readonly service: Service; readonly wire: Wire }> {
  const defects: unknown[] = [];
  const service = await createService({ onError: (error) => defects.push(error), ...options });
  onTestFinished(async () => {
    await service.close();
    if (defects.length > 0) throw defects[0];
  });
  return { service, wire: new Wire(service) };
}

/** Every address that was charged, in order. */
export async function paidAddresses(service: Service): Promise<readonly string[]> {
  const addresses: string[] = [];
  for await (const { address } of service.ledger()) addresses.push(address);
  return addresses;
}

export async function expectPaidOnce(service: Service, addresses: number): Promise<void> {
  const paid = await paidAddresses(service);
  expect(new Set(paid).size).toBe(paid.length);
  expect(paid).toHaveLength(addresses);
}

/** A folder that is removed after the test. */
export async function withFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-service-test-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A test clock whose time may also pass by itself. */
export class ServiceClock extends TestClock {
  /** The waits that were asked for. */
  readonly slept: number[] = [];
  /** Once time passes by itself: all waits so far. */
  #passed: Promise<void> | undefined;

  constructor(wallStart = Date.UTC(2026, 0, 15, 12)) {
    super(wallStart);
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    if (!this.#passed) return super.sleep(ms, signal);
    signal?.throwIfAborted();
    this.#passed = this.#passed.then(async () => this.advance(ms));
    return this.#passed;
  }

  /** From now on each wait passes at once, those before it first. */
  async run(): Promise<void> {
    this.#passed ??= this.advance(dayMs);
    return this.#passed;
  }

  async someoneSleeps(): Promise<void> {
    while (this.sleeping === 0) await turn();
  }
}

export const dayMs = 24 * 60 * 60 * 1000;
