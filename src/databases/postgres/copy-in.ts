import type { Writable } from 'node:stream';
import type { PostgresConnection } from './connect-postgres.js';
import { loadCopyStreams } from './load-copy-streams.js';

/** Rows on their way into a table. */
export interface CopyIn {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the server has taken all of them. */
  end(): Promise<void>;
}

/** Starts to copy lines into a table; errors are the driver's. */
export async function copyIn(
  connection: PostgresConnection,
  table: string,
  columns: readonly string[],
): Promise<CopyIn> {
  const { from } = await loadCopyStreams();
  const stream: Writable = connection.submit(
    from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`),
  );
  // A write whose server is gone, or has refused, may wait for ever: the failure ends the wait.
  const failed = new Promise<never>((_, reject) => {
    stream.on('error', reject);
    void connection.lost.then(reject);
  });
  failed.catch(() => undefined);
  return {
    write: (bytes) =>
      Promise.race([
        failed,
        new Promise<void>((resolve, reject) => {
          stream.write(bytes, (error) => {
            if (error) reject(error);
            else resolve();
          });
        }),
      ]),
    end: () =>
      Promise.race([
        failed,
        new Promise<void>((resolve) => {
          stream.end(resolve);
        }),
      ]),
  };
}
