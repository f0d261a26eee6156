import { Duplex } from 'node:stream';

/**
 * A Duplex that knows when its reader has everything: an error destroys what is buffered, so it must wait
 * until paid results are read.
 */
export abstract class PatientDuplex extends Duplex {
  /** The reader came back for more and found nothing. */
  #isAsked = false;
  #onAsked: (() => void) | undefined;

  /** Calls back when everything pushed is read and more is wanted; at once if that is so. */
  protected whenAsked(listener: () => void): void {
    // A flowing stream is not asked: it delivers everything at once.
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
