type Listener = (reason: unknown) => void;

const listeners = new WeakMap<AbortSignal, Set<Listener>>();

/**
 * Calls a listener when a signal aborts. However many requests wait on one signal, it carries a single
 * listener of ours: Node warns of a leak from the eleventh on.
 *
 * @returns takes the listener away again; the signal keeps nothing then
 */
export function onAbort(signal: AbortSignal | undefined, listener: Listener): () => void {
  if (signal === undefined) return () => undefined;
  const onceAborted = (reason: unknown): void => listener(reason);
  const waiting = listeners.get(signal) ?? listenTo(signal);
  waiting.add(onceAborted);
  return () => {
    if (!waiting.delete(onceAborted) || waiting.size > 0) return;
    signal.removeEventListener('abort', callAll);
    listeners.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Set<Listener> {
  const waiting = new Set<Listener>();
  listeners.set(signal, waiting);
  signal.addEventListener('abort', callAll, { once: true });
  return waiting;
}

function callAll(this: AbortSignal): void {
  const waiting = listeners.get(this);
  listeners.delete(this);
  for (const listener of waiting ?? []) listener(this.reason);
}

/**
 * Waits for work that may never end, or that others wait for too, and no longer than the signal lets it:
 * anyone who gives up leaves, and the work continues.
 */
export async function orAborted<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    // The reason is the caller's, whatever it is.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    if (signal.aborted) reject(signal.reason);
    work.then(resolve, reject).finally(forget);
  });
}
