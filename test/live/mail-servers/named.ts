import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from '../../servers/debian-program.js';
import { freePort } from '../../servers/free-port.js';
import { startProgram } from '../../servers/start-program.js';

// BIND listens on addresses that an interface has, and of the loopback that is this one.
const address = '127.0.0.1';

/** Starts BIND with some zones, each given as the text of its file; it asks nobody else. */
export async function startNamed(
  zones: Readonly<Record<string, string>>,
): Promise<{ readonly resolver: string; stop(): Promise<void> }> {
  const program = debianProgram('/usr/sbin/named', 'bind9');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-named-'));
  await chmod(folder, 0o755);
  const port = await freePort(address);
  const options = [
    `directory "${folder}"`,
    `pid-file "${join(folder, 'pid')}"`,
    `session-keyfile "${join(folder, 'session.key')}"`,
    'managed-keys-directory "."',
    `listen-on port ${port} { ${address}; }`,
    'listen-on-v6 { none; }',
    'recursion no',
    'dnssec-validation no',
    'notify no',
  ];
  const lines = [`options { ${options.join('; ')}; };`, 'controls { };'];
  for (const [name, text] of Object.entries(zones)) {
    await writeFile(join(folder, `${name}.zone`), text);
    lines.push(`zone "${name}" { type primary; file "${join(folder, `${name}.zone`)}"; };`);
  }
  await writeFile(join(folder, 'named.conf'), `${lines.join('\n')}\n`);
  const server = await startProgram(program, ['-g', '-c', join(folder, 'named.conf')], 'running');
  return {
    resolver: `${address}:${port}`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
