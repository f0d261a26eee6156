import type { CallOptions } from '../../client/client-options.js';
import { onAbort } from '../../platform/waiting/promises.js';

/** By the client that makes them, and by what they ask for. */
const inFlight = new WeakMap<object, Map<string, SharedCall<unknown>>>();

/**
 * Makes a call, or joins the same one under way: a form that is sent twice pays once.
 *
 * @param key everything that the call depends on
 * @param begin is given a signal that aborts when all callers have left
 */
export async function shareCall<Answer>(
  client: object,
  key: string,
  options: CallOptions,
  begin: (options: CallOptions) => Promise<Answer>,
): Promise<Answer> {
  options.onSent?.('no');
  options.signal?.throwIfAborted();
  const calls = inFlight.get(client) ?? new Map<string, SharedCall<unknown>>();
  inFlight.set(client, calls);
  let call = calls.get(key) as SharedCall<Answer> | undefined;
  if (!call) {
    const made = new SharedCall(begin, () => {
      if (calls.get(key) === made) calls.delete(key);
    });
    calls.set(key, made);
    call = made;
  }
  return call.join(options);
}

class SharedCall<Answer> {
  readonly #end = new AbortController();
  readonly #answer: Promise<Answer>;
  readonly #onOver: () => void;
  readonly #callers = new Set<CallOptions>();
  #sent: 'no' | 'unknown' = 'no';

  /** @param onOver called when nobody may join any more */
  constructor(begin: (options: CallOptions) => Promise<Answer>, onOver: () => void) {
    this.#onOver = onOver;
    const onSent = (sent: 'no' | 'unknown'): void => {
      this.#sent = sent;
      for (const caller of this.#callers) caller.onSent?.(sent);
    };
    // Deferred: the first caller has joined by then.
    this.#answer = Promise.resolve()
      .then(async () => begin({ signal: this.#end.signal, onSent }))
      .finally(onOver);
  }

  async join({ signal, onSent }: CallOptions): Promise<Answer> {
    const caller = { onSent };
    this.#callers.add(caller);
    if (this.#sent === 'unknown') onSent?.(this.#sent);
    return new Promise((resolve, reject) => {
      const forget = onAbort(signal, (reason) => {
        if (this.#callers.size > 1) {
          this.#callers.delete(caller);
          // The reason is the caller's.
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors
          reject(reason);
          return;
        }
        // The last caller waits, as long as it asked for, for the answer of what was sent.
        this.#onOver();
        this.#end.abort(reason);
      });
      this.#answer.then(resolve, reject).finally(forget);
    });
  }
}
