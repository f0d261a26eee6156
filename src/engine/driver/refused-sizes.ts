import type { Batch } from '../batches/batch.js';
import { bounds } from '../batches/state-machine.js';

type Size = Pick<Batch, 'sizeBytes' | 'addresses'>;

/**
 * The sizes that the service has refused in a run (413). It does not say whether it counts bytes or
 * rows: what is at least as large in both as something refused is refused too, whichever it counts.
 */
export class RefusedSizes {
  /** None of them covers another. */
  #refused: readonly Size[] = [];
  #linesInARow = 0;

  /** Takes in that a batch was refused. */
  note({ sizeBytes, addresses }: Size): void {
    if (addresses === 1) this.#linesInARow += 1;
    if (this.covers({ sizeBytes, addresses })) return;
    const kept = this.#refused.filter((size) => !isAtLeast(size, { sizeBytes, addresses }));
    this.#refused = [...kept, { sizeBytes, addresses }];
  }

  /** Takes in that the service has taken a batch. */
  noteTaken(): void {
    this.#linesInARow = 0;
  }

  /** Whether the service surely refuses a batch of this size. */
  covers(batch: Size): boolean {
    return this.#refused.some((size) => isAtLeast(batch, size));
  }

  /** Whether the service refuses even single lines, one after the other: it is not their size. */
  get isHopeless(): boolean {
    return this.#linesInARow >= bounds.refusedLines;
  }
}

function isAtLeast(size: Size, other: Size): boolean {
  return size.sizeBytes >= other.sizeBytes && size.addresses >= other.addresses;
}
