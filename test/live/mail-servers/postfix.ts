import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../servers/debian-program.js';
import { freePort } from '../../servers/free-port.js';
import { isListening, untilAnswered } from '../../servers/start-program.js';

/** Where `.ci/run` unpacks it: Debian lets no second mail server be installed beside Exim. */
const unpacked = '/usr/local/lib/postfix-for-tests';
const root = existsSync(unpacked) ? unpacked : '';
const daemons = `${root}/usr/lib/postfix/sbin`;

export interface Postfix {
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** A server of a Postfix: an address, and how it behaves. */
export interface PostfixServer {
  readonly address: string;
  /** Behind postscreen, with its tests after the greeting. */
  readonly hasPostscreen?: boolean;
  /** Checks of recipients, as `smtpd_recipient_restrictions` has them. */
  readonly restrictions: readonly string[];
}

/**
 * Starts a Postfix with everything it has in a folder of its own.
 *
 * @param options.mailboxes addresses that are there; the domains are theirs
 * @param options.behind a domain whose mailboxes another server has, and where that is
 */
export async function startPostfix(options: {
  readonly port: number;
  readonly servers: readonly PostfixServer[];
  readonly mailboxes: readonly string[];
  readonly behind?: { readonly domain: string; readonly server: string };
  /** Clients that postscreen turns away. */
  readonly denied?: readonly string[];
}): Promise<Postfix> {
  const master = debianProgram(
    `${daemons}/master`,
    `postfix, as .ci/run unpacks it in ${unpacked}`,
  );
  if (process.getuid?.() !== 0) throw new Error('the master of Postfix runs as root alone');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postfix-'));
  await chmod(folder, 0o755);
  const { port, servers, mailboxes, behind, denied = ['192.0.2.1'] } = options;
  const queue = join(folder, 'queue');
  for (const name of ['etc', 'data', 'queue']) await mkdir(join(folder, name));
  for (const name of queueFolders) await mkdir(join(queue, name));
  // `mail` of Debian, whose number is 8: a user that is neither root nor nobody is asked for.
  for (const path of [join(folder, 'data'), ...queueFolders.map((name) => join(queue, name))]) {
    await chown(path, 8, 8);
  }
  await chown(join(queue, 'pid'), 0, 0);
  const domains = [...new Set(mailboxes.map((address) => address.split('@')[1] ?? ''))];
  const main = {
    compatibility_level: '3.6',
    queue_directory: queue,
    data_directory: join(folder, 'data'),
    daemon_directory: daemons,
    command_directory: `${root}/usr/sbin`,
    mail_owner: 'mail',
    setgid_group: 'games',
    import_environment: 'MAIL_CONFIG LD_LIBRARY_PATH',
    maillog_file: join(folder, 'log'),
    maillog_file_prefixes: tmpdir(),
    myhostname: 'postfix.lab',
    mydestination: '',
    mynetworks: '127.0.99.99/32',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    // Nobody outside of this machine is asked for names.
    smtpd_peername_lookup: 'no',
    smtp_dns_support_level: 'disabled',
    alias_maps: '',
    local_recipient_maps: '',
    virtual_mailbox_domains: domains.join(' '),
    virtual_mailbox_maps: `inline:{ ${mailboxes.map((address) => `{${address}=x}`).join(' ')} }`,
    virtual_mailbox_base: folder,
    virtual_uid_maps: 'static:8',
    virtual_gid_maps: 'static:8',
    relay_domains: behind?.domain ?? '',
    transport_maps: behind ? `inline:{ {${behind.domain}=smtp:${behind.server}} }` : '',
    unverified_recipient_reject_code: '550',
    address_verify_map: '',
    address_verify_poll_count: '1',
    address_verify_poll_delay: '1s',
    postscreen_greet_wait: '1s',
    postscreen_cache_map: 'internal:memory',
    postscreen_access_list: `inline:{ ${denied.map((address) => `{${address}=reject}`).join(' ')} }`,
    postscreen_denylist_action: 'enforce',
    postscreen_bare_newline_enable: 'yes',
  };
  const text = Object.entries(main).map(([name, value]) => `${name} = ${value}`);
  await writeFile(join(folder, 'etc', 'main.cf'), `${text.join('\n')}\n`);
  await writeFile(join(folder, 'etc', 'master.cf'), masterText(servers, port));
  const child = spawn(master, ['-c', join(folder, 'etc'), '-d'], {
    env: { LD_LIBRARY_PATH: `${root}/usr/lib/postfix`, MAIL_CONFIG: join(folder, 'etc') },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let printed = '';
  child.stderr.on('data', (bytes: Buffer) => (printed += bytes.toString()));
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  const log = async () => readFile(join(folder, 'log'), 'utf8').catch(() => '');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const { address } of servers) {
      const early = ended.then(() => Promise.reject(new Error('it ended')));
      await Promise.race([untilAnswered(() => isListening(port, address)), early]);
    }
  } catch (cause) {
    const why = `${printed}${await log()}`;
    await stop();
    throw new Error(`Postfix did not start: ${why}`, { cause });
  }
  return { log, stop };
}

const queueFolders =
  'pid public private maildrop incoming active deferred bounce defer corrupt hold saved trace flush'.split(
    ' ',
  );

function masterText(servers: readonly PostfixServer[], port: number): string {
  const lines = servers.flatMap(({ address, hasPostscreen, restrictions }, at) => {
    const checks = `  -o { smtpd_recipient_restrictions = ${restrictions.join(', ')} }`;
    if (!hasPostscreen) return [`${address}:${port} inet n - n - - smtpd`, checks];
    return [
      `${address}:${port} inet n - n - 1 postscreen`,
      `  -o smtpd_service_name=smtpd${at}`,
      `smtpd${at} pass - - n - - smtpd`,
      checks,
    ];
  });
  const services = (
    'pickup cleanup qmgr tlsmgr bounce verify flush proxymap showq error discard virtual smtp anvil ' +
    'scache dnsblog tlsproxy'
  ).split(' ');
  // Their own limits on processes, without which they do not start.
  const limits: Readonly<Record<string, number>> = {
    verify: 1,
    anvil: 1,
    scache: 1,
    qmgr: 1,
    pickup: 1,
    cleanup: 0,
    bounce: 0,
    flush: 0,
  };
  const open = new Set(['pickup', 'cleanup', 'qmgr', 'flush', 'showq']);
  return [
    ...lines,
    ...services.map((name) => {
      const wakeUp = name === 'qmgr' ? '300' : '-';
      return `${name} unix ${open.has(name) ? 'n' : '-'} - n ${wakeUp} ${limits[name] ?? '-'} ${name}`;
    }),
    'rewrite unix - - n - - trivial-rewrite',
    'defer unix - - n - 0 bounce',
    'trace unix - - n - 0 bounce',
    'retry unix - - n - - error',
    'postlog unix-dgram n - n - 1 postlogd',
    '',
  ].join('\n');
}

/** Starts a postgrey that puts off for so many seconds; gives the check that asks it. */
export async function startPostgrey(
  delaySeconds: number,
): Promise<{ readonly check: string; stop(): Promise<void> }> {
  const program = debianProgram('/usr/sbin/postgrey', 'postgrey');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgrey-'));
  const port = await freePort();
  const child = spawn(
    program,
    [
      `--inet=127.0.0.1:${port}`,
      `--dbdir=${folder}`,
      `--delay=${delaySeconds}`,
      '--user=root',
      '--group=root',
      '--privacy',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  await Promise.race([
    untilAnswered(() => isListening(port)),
    ended.then(() => Promise.reject(new Error('postgrey ended'))),
  ]);
  return {
    check: `check_policy_service inet:127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
