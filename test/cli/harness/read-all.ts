import type { Readable } from 'node:stream';

/** All that a stream holds now: newer versions of Node read one piece of it at a time. */
export function readAll(stream: Readable): string {
  const pieces: string[] = [];
  for (let piece: unknown = stream.read(); piece !== null; piece = stream.read()) {
    pieces.push(String(piece));
  }
  return pieces.join('');
}
