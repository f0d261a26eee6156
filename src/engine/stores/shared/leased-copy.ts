import { StateError } from '../../../platform/errors/errors.js';
import type { HeldClaim } from './held-claims.js';
import type { CopyClaim, SourceCopy } from '../run-store.js';
import type { SharedSteps } from './store-protocol.js';

const blockBytes = 2 ** 20;

export interface LeasedCopyOptions {
  readonly steps: SharedSteps;
  readonly limitBytes: number;
  /** Claims the copying. */
  readonly claim: () => Promise<HeldClaim | undefined>;
  /** Does a step that needs no claim. */
  readonly ask: <Answer>(step: () => Promise<Answer>) => Promise<Answer>;
  /** Does steps of a claim, one after the other. @throws ClaimLostError */
  readonly under: (held: HeldClaim) => (step: () => Promise<boolean>) => Promise<void>;
}

/** The copy of a run's source, as one of the processes has it. */
export class LeasedCopy implements SourceCopy {
  readonly #options: LeasedCopyOptions;

  constructor(options: LeasedCopyOptions) {
    this.#options = options;
  }

  get limitBytes(): number {
    return this.#options.limitBytes;
  }

  async claim(): Promise<CopyClaim | undefined> {
    const { steps, under } = this.#options;
    const held = await this.#options.claim();
    if (!held) return undefined;
    const { token, lost } = held;
    const say = under(held);
    return {
      lost: lost.signal,
      async write(bytes, of) {
        let parts = 0;
        for await (const block of blocksOf(bytes)) {
          const part = parts;
          await say(async () => steps.copy.keep(token, part, block));
          parts += 1;
        }
        await say(async () => steps.copy.end(token, { parts, of }));
      },
    };
  }

  async read(): ReturnType<SourceCopy['read']> {
    const { ask, steps } = this.#options;
    const copy = await ask(async () => steps.copy.whole());
    return copy && { of: copy.of, bytes: this.#parts(copy.parts) };
  }

  async *#parts(parts: number): AsyncGenerator<Uint8Array> {
    const { ask, steps } = this.#options;
    for (let part = 0; part < parts; part += 1) {
      const bytes = await ask(async () => steps.copy.part(part));
      if (!bytes) {
        throw new StateError(
          `the copy of the input in ${steps.name} is damaged or was dropped; run again, under another name if that does not help`,
          { code: 'state_damaged' },
        );
      }
      yield bytes;
    }
  }
}

/** The same bytes in blocks of one size, but for the last. */
async function* blocksOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    waiting.push(piece);
    size += piece.length;
    if (size < blockBytes) continue;
    let whole = Buffer.concat(waiting);
    for (; whole.length >= blockBytes; whole = whole.subarray(blockBytes)) {
      yield whole.subarray(0, blockBytes);
    }
    waiting = [whole];
    size = whole.length;
  }
  if (size > 0) yield Buffer.concat(waiting);
}
