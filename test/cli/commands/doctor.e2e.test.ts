import { createServer } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { version } from '../../../src/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { connectTo } from '../harness/connect-to.js';
import { startFront } from '../harness/front.js';
import { runInProcess } from '../harness/run-in-process.js';
import { listen } from '../../client/test-server.js';

interface Examined {
  readonly exit_code: number;
  readonly checks: readonly {
    readonly check: string;
    readonly state: string;
    readonly text: string;
  }[];
}

async function doctor(env: Readonly<Record<string, string>>) {
  const cwd = await withFolder();
  const { code, stdout, stderr } = await runInProcess(['doctor', '--json'], { cwd, env });
  const examined = JSON.parse(stdout.toString()) as Examined;
  expect(stderr).toBe('');
  expect(examined.exit_code).toBe(code);
  // Nothing of the looking is left.
  expect(await readdir(cwd)).toEqual([]);
  const found = (name: string) => examined.checks.find(({ check }) => check === name);
  return { code, found, stdout: stdout.toString() };
}

it('says what works, and nothing of the key', async () => {
  const { service } = await withService({ emailCredits: 1000, phoneCredits: 5 });
  const { code, found, stdout } = await doctor(connectTo(service));
  expect(code).toBe(0);
  expect(found('sluice')?.text).toContain(`${version} on Node ${process.versions.node}`);
  expect(found('folder')).toMatchObject({ state: 'ok' });
  expect(found('service')?.text).toMatch(/answered in \d+ ms$/);
  expect(found('key')).toMatchObject({ state: 'ok' });
  expect(found('credits')?.text).toBe('1,000 email, 5 phone');
  expect(found('clock')).toMatchObject({ state: 'ok' });
  expect(found('packages')?.text).toMatch(/\bpg \d/);
  expect(stdout).not.toContain(service.apiKey);
});

it('ends as a run would end: a key that is refused, no credits, no key, a folder that is missing', async () => {
  const { service } = await withService({ emailCredits: 0, phoneCredits: 0 });
  const refused = await doctor({ ...connectTo(service), SLUICE_API_KEY: 'a-wrong-key-1234567890' });
  expect(refused.code).toBe(4);
  expect(refused.found('service')).toMatchObject({ state: 'ok' });
  expect(refused.found('key')).toMatchObject({ state: 'failed' });
  expect(refused.stdout).not.toContain('a-wrong-key');
  expect((await doctor(connectTo(service))).code).toBe(5);
  expect((await doctor({ SLUICE_BASE_URL: service.baseUrl })).code).toBe(2);
  const local = await doctor({});
  expect(local).toMatchObject({ code: 0 });
  expect(local.found('service')).toMatchObject({ state: 'note' });
  const missing = join(await withFolder(), 'missing');
  vi.stubEnv('TMPDIR', missing);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const ended = await runInProcess(['doctor', '--json']);
  expect(ended.code).toBe(2);
  const { checks } = JSON.parse(ended.stdout.toString()) as Examined;
  expect(checks).toContainEqual(expect.objectContaining({ check: 'temporary', state: 'failed' }));
});

it('does not wait for a service that is dead', async () => {
  const server = createServer(() => undefined);
  const dead = { SLUICE_BASE_URL: await listen(server), SLUICE_API_KEY: 'some-key-of-mine' };
  // A run waits for ten minutes, longer than a test may take.
  const silent = await doctor(dead);
  expect(silent.code).toBe(7);
  expect(silent.found('service')).toMatchObject({ state: 'failed' });
  server.closeAllConnections();
  await promisify(server.close).call(server);
  const refused = await doctor(dead);
  expect(refused.code).toBe(7);
  expect(refused.found('service')?.text).toContain(new URL(dead.SLUICE_BASE_URL).host);
});

it('says how far the clock is off', async () => {
  const { service } = await withService();
  const body = JSON.stringify({ email_credit: 1, phone_credit: 1 });
  const front = await startFront(service, () => ({
    send: (response) => {
      response.end(body);
    },
  }));
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const late = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', date });
    response.end(body);
  });
  expect((await doctor(connectTo(front))).found('clock')).toMatchObject({ state: 'ok' });
  const off = await doctor({ ...connectTo(front), SLUICE_BASE_URL: await listen(late) });
  expect(off.found('clock')).toMatchObject({
    state: 'note',
    text: expect.stringMatching(/^3,\d{3} s /) as string,
  });
});
