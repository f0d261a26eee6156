import type { Socket } from 'node:net';

type WriteDone = (error?: Error | null) => void;

/** How a failed write says that the other side no longer listens. */
const brokenPipe: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Makes a socket read what was answered even when writing fails. A service that refuses an upload half
 * way (413, 401) answers and closes; the next write then fails, and a socket that fails forgets what it
 * has received and not yet read. Here the failure of a write is told only once the reading has come to
 * its own end, which after a reset is at once.
 */
export function makePatient<S extends Socket>(socket: S): S {
  const told = (done: WriteDone): WriteDone => {
    return (error) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const mayHoldAnswer = !socket.destroyed && !socket.readableEnded;
      if (brokenPipe.has(code) && mayHoldAnswer) socket.once('close', () => done(error));
      else done(error);
    };
  };
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, told(done));
  const writeMany = socket._writev?.bind(socket);
  if (writeMany) socket._writev = (chunks, done) => writeMany(chunks, told(done));
  return socket;
}
