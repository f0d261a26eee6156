import type { Verdict } from '../../service/verification/engine.js';

/** The waiting side of a live verification: tells when something has moved. */
export interface LiveWork {
  readonly stir: () => void;
  report(to: (verdict: Verdict) => void, verdict: Verdict): void;
  fail(error: unknown): void;
  moved(): Promise<void>;
  /** Takes it off the signal. */
  end(): void;
}

export function createLiveWork(signal: AbortSignal): LiveWork {
  let hasMoved = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const stir = (): void => {
    hasMoved = true;
    wake?.();
  };
  signal.addEventListener('abort', stir, { once: true });
  return {
    stir,
    report(to, verdict) {
      to(verdict);
      stir();
    },
    fail(error) {
      failure ??= { error };
      stir();
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
    end: () => signal.removeEventListener('abort', stir),
  };
}
