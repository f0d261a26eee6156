import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import type { DatabaseServer, ServerCertificate } from './start-postgres.js';
import { startProgram } from './start-program.js';

/** Where Debian puts it. */
export const mariadbProgram = '/usr/sbin/mariadbd';

/**
 * A MariaDB server with an empty database.
 *
 * @param tls makes it take encrypted connections
 */
export async function startMariadb(
  tls?: ServerCertificate,
): Promise<DatabaseServer & { readonly socket: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mariadb-'));
  const isRoot = process.getuid?.() === 0;
  const data = join(folder, 'data');
  await promisify(execFile)('mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${folder}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...(isRoot ? ['--user=root'] : []),
  ]);
  const start = join(folder, 'start.sql');
  await writeFile(
    start,
    "CREATE DATABASE tests CHARACTER SET utf8mb4;\nCREATE USER 'tester'@'127.0.0.1' IDENTIFIED BY 'a secret of the tests';\nCREATE USER 'tester'@'localhost' IDENTIFIED BY 'a secret of the tests';\nGRANT ALL ON *.* TO 'tester'@'127.0.0.1' WITH GRANT OPTION;\nGRANT ALL ON *.* TO 'tester'@'localhost';\n",
  );
  const port = await freePort();
  const socket = join(folder, 'socket');
  const server = await startProgram(
    mariadbProgram,
    [
      '--no-defaults',
      `--datadir=${data}`,
      // One that starts deletes the temporary tables that it finds.
      `--tmpdir=${folder}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      `--socket=${socket}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--init-file=${start}`,
      '--innodb-flush-log-at-trx-commit=0',
      // Longer than a test may take: a connection that is let go of ends at once, or is seen.
      '--net-write-timeout=600',
      ...(tls ? [`--ssl-cert=${tls.certificate}`, `--ssl-key=${tls.key}`] : []),
      ...(isRoot ? ['--user=root'] : []),
    ],
    'ready for connections',
  );
  return {
    socket,
    url: `mysql://tester:a%20secret%20of%20the%20tests@127.0.0.1:${port}/tests`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
