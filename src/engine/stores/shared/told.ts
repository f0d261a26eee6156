import { onAbort } from '../../../platform/waiting/on-abort.js';

/** Lets others wait until they are told something, at once where they were told before they asked. */
export class Told {
  readonly #waiting = new Set<() => void>();
  #isTold = false;

  tell(): void {
    this.#isTold = this.#waiting.size === 0;
    for (const hear of this.#waiting) hear();
  }

  /** @throws the signal's reason */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isTold) {
      this.#isTold = false;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, (reason) => {
        this.#waiting.delete(hear);
        // The reason is the caller's, whatever it is.
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        reject(reason);
      });
      const hear = (): void => {
        forget();
        this.#waiting.delete(hear);
        resolve();
      };
      this.#waiting.add(hear);
    });
  }
}
