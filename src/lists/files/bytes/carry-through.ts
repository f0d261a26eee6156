import type { Transform } from 'node:stream';

/** What is written to a transform goes on as it comes out, at the pace of whoever takes it. */
export interface Carrier {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything has gone on. */
  end(): Promise<void>;
  /** Drops what has not gone on. Never fails. */
  destroy(): Promise<void>;
}

export function carryThrough(
  transform: Transform,
  goOn: (bytes: Uint8Array) => Promise<void>,
): Carrier {
  let failure: { readonly error: unknown } | undefined;
  const carried = (async () => {
    for await (const piece of transform) await goOn(piece as Uint8Array);
  })();
  // Whoever writes next, or ends, hears of it.
  carried.catch((error: unknown) => {
    failure = { error };
  });
  return {
    async write(bytes) {
      const taken = new Promise<void>((resolve) => {
        transform.write(bytes, () => resolve());
      });
      await Promise.race([carried, taken]);
      if (failure !== undefined) throw failure.error;
    },
    async end() {
      transform.end();
      await carried;
    },
    async destroy() {
      transform.destroy();
      await carried.catch(() => undefined);
    },
  };
}
