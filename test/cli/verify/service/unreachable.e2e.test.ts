import { connect, createServer } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../servers/free-port.js';
import { withFolder } from '../../../service/with-service.js';
import { createService } from '../../../../src/service/index.js';
import { eventsOf, parseLog } from '../../harness/logged-events.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';

const key = { SLUICE_API_KEY: 'k' };

it('names a host that is not found, and exits with 7', async () => {
  const env = { ...key, SLUICE_BASE_URL: 'https://verify.sluice.invalid' };
  const ended = await runInProcess(['credits', '--give-up-after', '0.2'], { env });
  expect(ended.code, ended.stderr).toBe(7);
  const message = expect.stringContaining('verify.sluice.invalid') as string;
  expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'service_unavailable', message }]);
});

it('says within seconds that a service is not reached, and that it is back', async () => {
  const folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), 'id,email\n1,good+1@sluice.test\n');
  const port = await freePort();
  const base = `127.0.0.1:${port}`;
  const args = ['verify', 'list.csv', '-o', 'out.csv', '-e', 'email', '--country', 'US'];
  const service = createService({ apiKey: 'k' });
  const env = { ...key, SLUICE_BASE_URL: `http://${base}` };
  const running = startSluice([...args, '--json-log'], { cwd: folder, env });
  expect(await running.reported('service_waiting')).toMatchObject({
    host: base,
    left_seconds: expect.toSatisfy((seconds: number) => seconds > 590 && seconds < 600) as number,
  });
  await forward(port, new URL((await service).baseUrl).port);
  const { code, stderr } = await running.ended;
  await (await service).close();
  expect(code).toBe(0);
  expect(eventsOf({ events: parseLog(stderr) }, 'service_back')).toHaveLength(1);
});

/** Lets what comes to one port of this machine reach another. */
async function forward(from: number, to: string): Promise<void> {
  const server = createServer((socket) => {
    const onward = connect(Number(to), '127.0.0.1');
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(from, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
}
