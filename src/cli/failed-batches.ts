import { adviceOn } from './describe-export.js';
import type { Said } from './run-lines.js';
import { counted } from '../words/shown-numbers.js';

/** Batches that have failed for no wrong export: said at the end, one line for each reason. */
export class FailedBatches {
  readonly #byReason = new Map<string, { readonly count: number; readonly said: Said }>();

  note(reason: string, said: Said): void {
    const { count = 0 } = this.#byReason.get(reason) ?? {};
    this.#byReason.set(reason, { count: count + 1, said });
  }

  lines(): readonly Said[] {
    return [...this.#byReason].map(([reason, { count, said }]) => {
      if (count === 1) return said;
      const line = `${counted(count, 'batch')} failed: ${reason}; ${adviceOn(reason, undefined)}`;
      return { ...said, line };
    });
  }
}
