import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

const program = '/usr/sbin/nsd';

/** Whether the name server of Debian is there: its tests are reported as skipped without it. */
export const hasNsd = existsSync(program);

export interface Nsd {
  /** As an option of the engine: `127.0.0.53:…`. */
  readonly resolver: string;
  stop(): Promise<void>;
}

const address = '127.0.0.53';

/** Starts NSD with some zones, each given as the text of its file; without one, it is broken. */
export async function startNsd(zones: Readonly<Record<string, string | undefined>>): Promise<Nsd> {
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
  const server = spawn(program, ['-d', '-c', join(folder, 'nsd.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const ended = new Promise<void>((resolve) => {
    server.on('exit', () => resolve());
  });
  await Promise.race([
    new Promise<void>((resolve) => {
      server.stderr.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        if (said.includes('nsd started')) resolve();
      });
    }),
    ended.then(() => {
      throw new Error(`nsd ended: ${said}`);
    }),
  ]);
  return {
    resolver: `${address}:${port}`,
    async stop() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
