/** The waiting side of a live verification: resolves when something has changed. */
interface LiveWork {
  /** Aborts with the signal, and at the end: nobody waits for queries under it any more. */
  readonly signal: AbortSignal;
  /** Passes on a result, unless nobody waits for it any more. */
  report<Known>(to: (known: Known) => void, known: Known): void;
  fail(error: unknown): void;
  readonly moved: () => Promise<void>;
  /** Detaches it from the signal and the watchers. */
  readonly end: () => void;
}

/** @param watchers called whenever something is settled, in any batch */
export function createLiveWork(signal: AbortSignal, watchers: Set<() => void>): LiveWork {
  const ending = new AbortController();
  let hasMoved = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const notify = (): void => {
    hasMoved = true;
    wake?.();
  };
  signal.addEventListener('abort', notify, { once: true });
  watchers.add(notify);
  return {
    signal: AbortSignal.any([signal, ending.signal]),
    report(to, known) {
      if (signal.aborted || ending.signal.aborted) return;
      to(known);
      notify();
    },
    fail(error) {
      failure ??= { error };
      notify();
    },
    async moved() {
      signal.throwIfAborted();
      if (!hasMoved) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = undefined;
      hasMoved = false;
      signal.throwIfAborted();
      if (failure) throw failure.error;
    },
    end() {
      watchers.delete(notify);
      signal.removeEventListener('abort', notify);
      ending.abort();
    },
  };
}
