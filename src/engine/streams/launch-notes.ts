import { type Batch, readLines } from '../batches/batch.js';
import { collectLaunched } from '../driver/collect-launched.js';
import { addressOf } from '../plan/result-join.js';
import type { VerifySettings } from './stream-options.js';

/**
 * A stream's launches in a history: what a stream or a kill leaves behind, the next stream with that history
 * collects before it sends anything.
 */
export class LaunchNotes {
  readonly #options: Omit<VerifySettings, 'onProgress'>;
  readonly #stop = new AbortController();
  #isLookedFor = false;
  #noted: Promise<void> | undefined;

  constructor(options: Omit<VerifySettings, 'onProgress'>) {
    this.#options = options;
  }

  /** Collects what was left; `undefined` where there is nothing, or once it is done. */
  collect(): Promise<void> | undefined {
    if (this.#isLookedFor) return undefined;
    this.#isLookedFor = true;
    const { history, client: service, ...settings } = this.#options;
    if (!history) return undefined;
    const { signal } = this.#stop;
    return collectLaunched(this, { ...settings, history, service, signal });
  }

  /** Awaited before each upload. */
  async noteUploads(runId: string): Promise<void> {
    this.#noted ??= this.#options.history?.noteUploads(runId, this);
    await this.#noted;
  }

  /** Every unlaunched upload is deleted or named. */
  async dropUploads(runId: string): Promise<void> {
    if (this.#noted) await this.#options.history?.dropLaunch(runId);
  }

  /** Awaited before each launch. */
  async note(batch: Batch, batchUuid: string): Promise<void> {
    const { group } = batch;
    await this.#options.history?.noteLaunch({ batchUuid, group, keys: keysOf(batch) }, this);
  }

  /** Unfinished batches are left to the next stream. */
  leave(reason: unknown): void {
    this.#stop.abort(reason);
    this.#options.history?.release(this);
  }
}

async function* keysOf(batch: Batch): AsyncGenerator<string> {
  for await (const line of readLines(batch)) {
    const address = addressOf(batch, line);
    if ('key' in address) yield address.key;
  }
}
