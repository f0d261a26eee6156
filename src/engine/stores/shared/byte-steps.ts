import { crc32 } from 'node:zlib';
import {
  gone,
  removed,
  type RunCalls,
  type StoreCalls,
  type Token,
  type WholeCopy,
} from './store-protocol.js';

const usualBlockBytes = 2 ** 20;

export class CopySteps {
  readonly #run: RunCalls;
  readonly #calls: StoreCalls;

  constructor(run: RunCalls, calls: StoreCalls) {
    this.#run = run;
    this.#calls = calls;
  }

  /** Stores a part, replacing one of the same number. @returns whether the claim is still valid */
  async keep(token: Token, part: number, bytes: Uint8Array): Promise<boolean> {
    return this.#run.holds(token, 'keep_copy', { part, checksum: crc32(bytes), bytes });
  }

  /** Marks it complete. @returns whether the claim is still valid */
  async end(token: Token, { parts, of }: WholeCopy): Promise<boolean> {
    return this.#run.holds(token, 'end_copy', { parts, of });
  }

  /** @returns nothing until it is complete, and once it is dropped */
  async whole(): Promise<WholeCopy | undefined> {
    return this.#calls.copied(this.#run.run, this.#run.life);
  }

  /** @returns nothing for a missing or damaged part */
  async part(part: number): Promise<Uint8Array | undefined> {
    const found = await this.#calls.copyPart(this.#run.run, part);
    return found && found.checksum === crc32(found.bytes) ? found.bytes : undefined;
  }
}

/** The same bytes in blocks of one size; the last may be shorter. */
export async function* blocksOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    waiting.push(piece);
    size += piece.length;
    if (size < usualBlockBytes) continue;
    let whole = Buffer.concat(waiting);
    for (; whole.length >= usualBlockBytes; whole = whole.subarray(usualBlockBytes)) {
      yield whole.subarray(0, usualBlockBytes);
    }
    waiting = [whole];
    size = whole.length;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

/** One process's steps for results: those of batches, and those of a history that the plan uses. */
export class ResultSteps {
  readonly #run: RunCalls;
  readonly #calls: StoreCalls;
  readonly #blockBytes: number;

  constructor(run: RunCalls, calls: StoreCalls, blockBytes = usualBlockBytes) {
    this.#run = run;
    this.#calls = calls;
    this.#blockBytes = blockBytes;
  }

  /** Stores results, replacing earlier ones. @param nextCall numbers records @returns whether the claim is valid */
  async keep(token: Token, bytes: Uint8Array, nextCall: () => number): Promise<boolean> {
    for (const block of this.#blocksOf(bytes)) {
      if (!(await this.#run.writes(token, 'keep_results', { call: nextCall(), ...block })))
        return false;
    }
    return true;
  }

  async of(label: string): Promise<Uint8Array | undefined> {
    return this.#kept('results', label);
  }

  /** Stores the used results of a history for the plan that this process is about to begin with. */
  async keepRecalled(bytes: Uint8Array): Promise<void> {
    for (const { part, bytes: block } of this.#blocksOf(bytes)) {
      const values = { part, bytes: block };
      if ((await this.#run.step('keep_recalled', values)) === gone) throw removed(this.#run.name);
    }
  }

  /** Reads them for the plan that counts. */
  async recalled(): Promise<Uint8Array | undefined> {
    return this.#kept('recalled');
  }

  async #kept(table: 'results' | 'recalled', label?: string): Promise<Uint8Array | undefined> {
    const blocks = await this.#calls.kept(table, this.#run.run, this.#run.life, label);
    return blocks.length === 0 ? undefined : Buffer.concat(blocks);
  }

  *#blocksOf(bytes: Uint8Array) {
    // Of nothing, too, there is a block: without one nothing is stored.
    for (let part = 0; part === 0 || part * this.#blockBytes < bytes.length; part += 1) {
      const end = (part + 1) * this.#blockBytes;
      const block = Buffer.from(bytes.subarray(part * this.#blockBytes, end));
      yield { part, is_last: end >= bytes.length, bytes: block };
    }
  }
}
