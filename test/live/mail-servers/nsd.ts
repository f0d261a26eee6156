import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../servers/debian-program.js';
import { freePort } from '../../servers/free-port.js';
import { startProgram } from '../../servers/start-program.js';

export interface Nsd {
  /** As an option of the engine: `127.0.0.53:…`. */
  readonly resolver: string;
  stop(): Promise<void>;
}

const address = '127.0.0.53';

/** Starts NSD with some zones, each given as the text of its file; without one, it is broken. */
export async function startNsd(zones: Readonly<Record<string, string | undefined>>): Promise<Nsd> {
  const program = debianProgram('/usr/sbin/nsd', 'nsd');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-nsd-'));
  const port = await freePort(address);
  const lines = [
    'server:',
    `  ip-address: ${address}@${port}`,
    '  username: ""',
    '  chroot: ""',
    `  zonesdir: "${folder}"`,
    `  pidfile: "${join(folder, 'pid')}"`,
    `  xfrdfile: "${join(folder, 'xfrd')}"`,
    `  zonelistfile: "${join(folder, 'zones')}"`,
    `  xfrdir: "${folder}"`,
    '  database: ""',
    '  server-count: 1',
    '  verbosity: 1',
    'remote-control:',
    '  control-enable: no',
  ];
  for (const [name, text] of Object.entries(zones)) {
    lines.push('zone:', `  name: "${name}"`, `  zonefile: "${name}.zone"`);
    if (text !== undefined) await writeFile(join(folder, `${name}.zone`), text);
  }
  await writeFile(join(folder, 'nsd.conf'), `${lines.join('\n')}\n`);
  const server = await startProgram(program, ['-d', '-c', join(folder, 'nsd.conf')], 'nsd started');
  return {
    resolver: `${address}:${port}`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
