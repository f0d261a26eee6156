import { OutputError } from '../index.js';

/**
 * Writes to standard output what a person or a script asked for.
 *
 * @throws OutputError when nobody reads it any more
 */
export async function print(text: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (cause) => {
      if (cause) reject(new OutputError('cannot write standard output', { cause }));
      else resolve();
    });
  });
}

/**
 * Writes bytes to standard output as they come.
 *
 * @throws OutputError when nobody reads it any more; what the bytes fail with
 */
export async function printStream(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of bytes) await print(piece);
}

/**
 * Waits until everything said on standard error is with its reader, or will never be: an exit cuts what
 * still waits. Who writes to standard output waits there; one that nobody reads must not hold up an exit.
 */
export async function printed({ stderr }: NodeJS.Process): Promise<void> {
  await new Promise<void>((resolve) => {
    stderr.write('', () => {
      resolve();
    });
  });
}

/**
 * Keeps a closed pipe from ending the process in the middle of its work: who writes to standard output
 * hears of it there, and what is said on standard error is lost without harm.
 */
export function outliveClosedPipes({ stdout, stderr }: NodeJS.Process): void {
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
}
