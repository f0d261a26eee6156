import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../servers/debian-program.js';
import { freePort } from '../../servers/free-port.js';
import { startProgram } from '../../servers/start-program.js';

export interface Exim {
  readonly address: string;
  readonly port: number;
  /** Its main log. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** Domains of an Exim, each with its mailboxes; `*` takes everything. */
export type MailDomains = Readonly<Record<string, readonly string[] | '*'>>;

/** Starts a real mail server on a loopback address, with everything it has in a folder of its own. */
export async function startExim(address: string, domains: MailDomains): Promise<Exim> {
  const program = debianProgram('/usr/sbin/exim4', 'exim4-daemon-light');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-exim-'));
  await mkdir(join(folder, 'spool'));
  await mkdir(join(folder, 'log'));
  const port = await freePort(address);
  const user = userInfo().username;
  const routers = Object.entries(domains).map(([domain, locals], index) =>
    [
      `domain${index}:`,
      '  driver = accept',
      `  domains = ${domain}`,
      ...(locals === '*' ? [] : [`  local_parts = ${locals.join(' : ')}`]),
      '  transport = bin',
    ].join('\n'),
  );
  const configuration = `
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%s
pid_file_path = ${folder}/pid
primary_hostname = mx.lab
exim_user = ${user}
exim_group = ${user}
never_users =
keep_environment =
tls_advertise_hosts =
pipelining_advertise_hosts = *
host_lookup =
rfc1413_query_timeout = 0s
acl_smtp_rcpt = check_rcpt
domainlist local_domains = ${Object.keys(domains).join(' : ')}

begin acl
check_rcpt:
  deny    domains = !+local_domains
          message = relay not permitted
  require verify  = recipient
  accept

begin routers
${routers.join('\n\n')}

begin transports
bin:
  driver = appendfile
  file = ${folder}/mail
`;
  const path = join(folder, 'exim.conf');
  await writeFile(path, configuration);
  const server = await startProgram(
    program,
    ['-C', path, '-bdf', '-oX', `${address}.${port}`, '-v'],
    'listening for SMTP',
  );
  return {
    address,
    port,
    log: () => readFile(join(folder, 'log', 'main'), 'utf8'),
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
