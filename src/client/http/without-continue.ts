import type { Socket } from 'node:net';

/** How undici begins each request: with one string. Bodies are bytes. */
const requestHead = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;
/** How an interim answer begins; after a 101 the connection no longer speaks HTTP. */
const interimHead = /^HTTP\/1\.[01] 1(?!01)\d\d/;
const statusAt = 'HTTP/1.1 '.length;
const statusEnd = statusAt + 3;
const headEnd = '\r\n\r\n';
/** As of any answer. */
const longestHead = 16 * 1024;

/**
 * Makes a socket show an interim answer 100 as a 102. A client ignores those that it did not ask for (RFC 9110,
 * 15.2); undici does so with all but 100, at which it drops the connection, and with it an answer that may be paid
 * for. Only heads are looked at, from the beginning of a request to its final answer: a body may contain anything.
 */
export function withoutContinue<S extends Socket>(socket: S): S {
  const heads = new InterimHeads();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.read = (size) => {
    const chunk: unknown = read(size);
    return chunk instanceof Buffer ? heads.rewritten(chunk) : chunk;
  };
  socket.write = (chunk: unknown, ...more: unknown[]): boolean => {
    if (typeof chunk === 'string' && requestHead.test(chunk)) heads.await();
    return write(chunk, ...more);
  };
  return socket;
}

/** The heads before the final answer to each request of a connection. */
class InterimHeads {
  #isAwaited = false;
  /** The beginning of a head that has not come whole. */
  #held: Buffer = Buffer.alloc(0);

  /** The next bytes are the head of an answer. */
  await(): void {
    this.#isAwaited = true;
  }

  /** @returns the bytes that may be read so far; `null` as long as there are none */
  rewritten(chunk: Buffer): Buffer | null {
    if (!this.#isAwaited) return chunk;
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    let at = 0;
    while (this.#isAwaited && at < bytes.length) {
      const end = this.#endOfInterim(bytes, at);
      if (end === undefined) break;
      this.#isAwaited = end > at;
      at = end;
    }
    const readable = this.#isAwaited ? at : bytes.length;
    this.#held = bytes.subarray(readable);
    return readable === 0 ? null : bytes.subarray(0, readable);
  }

  /** @returns where an interim head ends; its beginning where it is another; `undefined` as long as it is not whole */
  #endOfInterim(bytes: Buffer, from: number): number | undefined {
    const length = bytes.length - from;
    if (length < statusEnd) return undefined;
    if (!interimHead.test(bytes.toString('latin1', from, from + statusEnd))) return from;
    const end = bytes.indexOf(headEnd, from, 'latin1');
    if (end === -1) return length < longestHead ? undefined : from;
    if (bytes.toString('latin1', from + statusAt, from + statusEnd) === '100') {
      bytes.write('102', from + statusAt, 'latin1');
    }
    return end + headEnd.length;
  }
}
