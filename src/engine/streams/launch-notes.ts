import { type Batch, readLines } from '../batches/batch.js';
import { collectLaunched } from '../driver/collect-launched.js';
import { addressOf } from '../plan/result-join.js';
import type { VerifySettings } from './stream-options.js';

/**
 * What a history knows of the launches of a stream: what one leaves behind, or a kill does, the next with
 * that history collects before it sends anything.
 */
export class LaunchNotes {
  readonly #options: Omit<VerifySettings, 'onProgress'>;
  readonly #stop = new AbortController();
  #isLookedFor = false;
  #noted: Promise<void> | undefined;

  constructor(options: Omit<VerifySettings, 'onProgress'>) {
    this.#options = options;
  }

  /** Collects what was left; `undefined` where there is nothing, or it was done. */
  collect(): Promise<void> | undefined {
    if (this.#isLookedFor) return undefined;
    this.#isLookedFor = true;
    const { history, client: service, ...settings } = this.#options;
    if (!history) return undefined;
    const { signal } = this.#stop;
    return collectLaunched(this, { ...settings, history, service, signal });
  }

  /** Waited for before each upload. */
  async noteUploads(runId: string): Promise<void> {
    this.#noted ??= this.#options.history?.noteUploads(runId, this);
    await this.#noted;
  }

  /** All that was never launched is deleted, or named. */
  async dropUploads(runId: string): Promise<void> {
    if (this.#noted) await this.#options.history?.dropLaunch(runId);
  }

  /** Waited for before each launch. */
  async note(batch: Batch, batchUuid: string): Promise<void> {
    const { group } = batch;
    await this.#options.history?.noteLaunch({ batchUuid, group, keys: keysOf(batch) }, this);
  }

  /** What is not at its end is the next stream's. */
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
