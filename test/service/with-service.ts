import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createService,
  type Clock,
  type Service,
  type ServiceOptions,
} from '../../src/service/index.js';
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

/** A folder that is removed after the test. */
export async function withFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-service-test-'));
  onTestFinished(async () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A clock that only moves when it is told to; sleepers wake when their time has come. */
export class TestClock implements Clock {
  #now: number;
  #isRunning = false;
  readonly #sleepers = new Set<{ readonly atMs: number; wake(): void }>();

  constructor(start = Date.UTC(2026, 0, 15, 12)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isRunning) {
        this.advance(ms);
        resolve();
        return;
      }
      const sleeper = { atMs: this.#now + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.atMs > this.#now) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }

  /** Lets go of time: whoever sleeps, or will, wakes at once. */
  run(): void {
    this.#isRunning = true;
    this.advance(Math.max(0, ...[...this.#sleepers].map(({ atMs }) => atMs - this.#now)));
  }

  /** Resolves when somebody sleeps. */
  async someoneSleeps(): Promise<void> {
    while (this.#sleepers.size === 0) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

export const dayMs = 24 * 60 * 60 * 1000;
