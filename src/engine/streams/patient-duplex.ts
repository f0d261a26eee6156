import { Duplex } from 'node:stream';

/**
 * A Duplex that knows when its reader has everything: an error destroys what is buffered, so one that
 * leaves paid results in their order has to wait until they are read.
 */
export abstract class PatientDuplex extends Duplex {
  /** The reader came back for more and found nothing. */
  #isAsked = false;
  #onAsked: (() => void) | undefined;

  /** Calls back when all that was pushed is read and more is asked for; at once if it is so already. */
  protected whenAsked(listener: () => void): void {
    // A flowing stream is not asked: whatever it has is gone as soon as it comes.
    const isAsked = this.#isAsked || this.readableFlowing === true;
    if (isAsked && this.readableLength === 0) listener();
    else this.#onAsked = listener;
  }

  override push(item: unknown): boolean {
    this.#isAsked = false;
    return super.push(item);
  }

  override read(size?: number): unknown {
    const item: unknown = super.read(size);
    // A read of 0 is the stream's own way to fill its buffer.
    if (item === null && size !== 0) {
      this.#isAsked = true;
      const listener = this.#onAsked;
      this.#onAsked = undefined;
      listener?.();
    }
    return item;
  }
}
