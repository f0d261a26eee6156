import { Writable } from 'node:stream';

/** A stream that gives all its bytes when it has ended. */
export class BytesTaker extends Writable {
  readonly #pieces: Uint8Array[] = [];

  constructor(take: (bytes: Buffer) => void) {
    super();
    this.on('finish', () => take(Buffer.concat(this.#pieces)));
  }

  override _write(piece: Uint8Array, _encoding: string, done: () => void): void {
    this.#pieces.push(Buffer.from(piece));
    done();
  }
}
