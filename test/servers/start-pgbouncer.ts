import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { unprivilegedUser, type DatabaseServer } from './start-postgres.js';
import { startProgram } from './start-program.js';

export const pgbouncerProgram = '/usr/sbin/pgbouncer';

/**
 * PgBouncer before a server of PostgreSQL, in transaction mode: each statement may get another of its few
 * connections.
 */
export async function startPgbouncer(url: string): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'));
  const { hostname, port, username, password } = new URL(url);
  const user = await unprivilegedUser();
  const own = await freePort();
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users')];
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = 3
`,
  );
  const { uid, gid } = user;
  for (const path of [folder, settings, users]) {
    if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
  }
  const pooler = await startProgram(pgbouncerProgram, [settings], 'process up', {
    ...user,
    endsWith: 'SIGINT',
  });
  const through = new URL(url);
  through.port = `${own}`;
  return {
    url: through.href,
    async stop() {
      await pooler.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
