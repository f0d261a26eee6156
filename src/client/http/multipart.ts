import { randomBytes } from 'node:crypto';
import { InputError } from '../../platform/errors/errors.js';

/** The file of an upload, made again for every attempt to send it. */
export interface UploadFile {
  /** Exactly as many bytes as {@link UploadFile.open} yields. */
  readonly sizeBytes: number;
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A field's value; `null` and `undefined` leave the field out. */
export type FieldValue = string | number | boolean | null | undefined;

interface Multipart {
  readonly contentType: string;
  readonly contentLength: number;
  /**
   * The bytes, in chunks of 1 MiB: the fewer, the less of each upload waits to be collected.
   *
   * @param isLent a chunk is only the reader's until it asks for the one after the next: then memory
   *   does not grow with the file, not even by what is waiting to be collected
   * @throws InputError `input_changed` when the file yields more or fewer bytes than it said: what is
   *   yielded before that is never a whole body
   */
  readonly open: (isLent?: boolean) => AsyncGenerator<Uint8Array, void, undefined>;
}

const chunkBytes = 1024 * 1024;

/** The name of the file says nothing of the caller's own files. */
const fileName = 'batch.txt';

export function createMultipart(
  fields: Readonly<Record<string, FieldValue>>,
  file: UploadFile,
): Multipart {
  const boundary = `sluice-${randomBytes(24).toString('hex')}`;
  const head = Buffer.from(
    Object.entries(fields)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `${partHead(boundary, name)}\r\n\r\n${String(value)}\r\n`)
      .join('') +
      `${partHead(boundary, 'file')}; filename="${fileName}"\r\ncontent-type: text/plain\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const contentLength = head.length + file.sizeBytes + tail.length;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength,
    open: (isLent = false) => {
      const size = Math.min(chunkBytes, contentLength);
      return packed(parts(head, file, tail), isLent ? createRing(size) : createFresh(size));
    },
  };
}

function partHead(boundary: string, name: string): string {
  return `--${boundary}\r\ncontent-disposition: form-data; name="${escaped(name)}"`;
}

/** As browsers do: what would end the quoted name, or the line, is written in percent. */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

async function* parts(
  head: Uint8Array,
  file: UploadFile,
  tail: Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  let bytes = 0;
  for await (const piece of file.open()) {
    if (!(piece instanceof Uint8Array)) {
      throw new InputError('the file of an upload yielded something other than bytes');
    }
    bytes += piece.length;
    if (bytes > file.sizeBytes) break;
    yield piece;
  }
  // The tail goes out only when all is as announced: without it no service takes the form as whole.
  if (bytes !== file.sizeBytes) {
    throw new InputError(
      `the file of an upload yielded ${bytes > file.sizeBytes ? 'more' : 'fewer'} bytes than the ${file.sizeBytes} it announced`,
      { code: 'input_changed' },
    );
  }
  yield tail;
}

type NextChunk = () => Buffer;

function createFresh(size: number): NextChunk {
  return () => Buffer.allocUnsafeSlow(size);
}

/** Two chunks in turn: while one is filled, the one before it may still be on its way. */
function createRing(size: number): NextChunk {
  let [next, other] = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)];
  return () => {
    [next, other] = [other, next];
    return other;
  };
}

async function* packed(
  pieces: AsyncIterable<Uint8Array>,
  nextChunk: NextChunk,
): AsyncGenerator<Uint8Array, void, undefined> {
  let chunk = nextChunk();
  let used = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const taken = piece.subarray(at, at + chunk.length - used);
      chunk.set(taken, used);
      at += taken.length;
      used += taken.length;
      if (used < chunk.length) continue;
      yield chunk;
      chunk = nextChunk();
      used = 0;
    }
  }
  if (used > 0) yield chunk.subarray(0, used);
}
