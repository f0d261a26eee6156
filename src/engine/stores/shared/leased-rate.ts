import type { Client } from '../../../client/client.js';
import type { RateMember, RateUpdate, SharedRate } from '../../../client/rate/shared-rate.js';
import type { SharedRunStore } from '../run-store.js';
import type { PaceSteps } from './store-protocol.js';

/**
 * Lets the requests of a client keep the pace of its account: in a store all runs share it.
 *
 * @returns ends that
 */
export async function shareRate(client: Client, store: SharedRunStore): Promise<() => void> {
  const { baseUrl, intervalMs } = client;
  const account = async (salt: string): Promise<string> =>
    `${await client.keyFingerprint(salt)} ${new URL(baseUrl).origin}`;
  return client.shareRate(await store.joinPace({ account, intervalMs }));
}

type Act = <Answer>(step: () => Promise<Answer>) => Promise<Answer>;

/** One process's hold of the pace that it shares with others. */
export class LeasedRate implements SharedRate {
  readonly #steps: PaceSteps;
  readonly #do: Act;
  readonly #listening = new Set<(updates: RateUpdate) => void>();
  #updates: RateUpdate;

  private constructor(updates: RateUpdate, steps: PaceSteps, act: Act) {
    this.#updates = updates;
    this.#steps = steps;
    this.#do = act;
  }

  /** @param act does a step, or throws why this process has no say any more */
  static async join(member: RateMember, steps: PaceSteps, act: Act): Promise<LeasedRate> {
    return new LeasedRate(await act(async () => steps.join(member)), steps, act);
  }

  async takeSlot(): Promise<number> {
    return this.#do(async () => this.#steps.takeSlot());
  }

  pause(ms: number): void {
    // A store that is out of reach for too long ends whatever this process does.
    this.#do(async () => this.#steps.pause(ms)).catch(() => undefined);
  }

  listen(listener: (updates: RateUpdate) => void): () => void {
    this.#listening.add(listener);
    listener(this.#updates);
    return () => this.#listening.delete(listener);
  }

  /** Takes in the answer to a sign of life. */
  applyRemote(updates: RateUpdate): void {
    this.#updates = updates;
    for (const listener of this.#listening) listener(updates);
  }
}
