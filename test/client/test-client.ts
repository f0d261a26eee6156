import { expect, onTestFinished } from 'vitest';
import { Client } from '../../src/client/client.js';
import type { ClientOptions } from '../../src/client/client-options.js';
import { createFastClock } from '../../src/testing/test-clock.js';

/** Never to be seen in anything that is printed. */
export const canaryKey = 'canary-key-5f3c9a0d71';

export const uuid = '6f1c2b9e-4d3a-4f7b-8a55-0c9d1e2f3a4b';

/** A client that is closed after the test. */
export function openClient(options: ClientOptions): Client {
  const client = new Client(options);
  onTestFinished(async () => client.close());
  return client;
}

/** A client in whose eyes waits are short and silences never too long; it ends with the test. */
export function createTestClient(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  return openClient({
    baseUrl,
    apiKey: canaryKey,
    clock: createFastClock(),
    timeoutMs: 10_000_000,
    connectTimeoutMs: 10_000_000,
    giveUpAfterMs: 10_000_000,
    ...options,
  });
}

/** What a promise is rejected with. */
export async function caught(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Expects what becomes true in its own time. */
// oxlint-disable-next-line vitest/require-awaited-expect-poll -- its callers wait
export const eventually = <T>(get: () => T) => expect.poll(get, { interval: 10 });

/** A file of one repeated byte. */
export function createFile(
  sizeBytes: number,
  chunkBytes = 64 * 1024,
): { readonly sizeBytes: number; readonly open: () => Generator<Uint8Array> } {
  return {
    sizeBytes,
    *open() {
      for (let left = sizeBytes; left > 0; left -= chunkBytes) {
        yield Buffer.alloc(Math.min(left, chunkBytes), 'a');
      }
    },
  };
}

export const uploadFields = { name: 'sluice-1', type: 'email', target_country: 'US' } as const;
