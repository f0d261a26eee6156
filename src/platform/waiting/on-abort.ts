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
  const own = (reason: unknown): void => listener(reason);
  const waiting = listeners.get(signal) ?? listenTo(signal);
  waiting.add(own);
  return () => {
    if (!waiting.delete(own) || waiting.size > 0) return;
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
