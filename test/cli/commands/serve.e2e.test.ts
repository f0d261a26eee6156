import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LedgerEntry } from '../../../src/service/index.js';
import { withFolder } from '../../service/with-service.js';
import { Wire } from '../../service/wire.js';
import { csvRows } from '../harness/csv-cells.js';
import { runInProcess } from '../harness/run-in-process.js';
import { eventsOf, parseLog } from '../harness/logged-events.js';
import { runShell } from '../harness/run-sluice.js';
import { serve, type Serving } from './serving.js';
import { listen } from '../../client/test-server.js';

async function newKey(serving: Serving): Promise<string> {
  const { api_key: key } = await serving.reported('api_key');
  return String(key);
}

describe('sluice serve', () => {
  it('says where it is and with which key, serves the command, and tells every charge', async () => {
    const serving = await serve(['--json-log']);
    const apiKey = await newKey(serving);
    expect(serving.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const wire = new Wire({ baseUrl: serving.baseUrl, apiKey });
    const million = { email_credit: 1_000_000, phone_credit: 1_000_000 };
    expect((await wire.get('/v1/account/credits')).json).toEqual(million);

    const verified = await runInProcess(
      ['verify', '-', '--email', 'email', '--country', 'US', '--poll-interval', '20'],
      {
        env: { SLUICE_BASE_URL: serving.baseUrl, SLUICE_API_KEY: apiKey },
        input: 'email\ngood@sluice.test\nGOOD@sluice.test\nbad@sluice.test\n',
      },
    );
    expect(verified.code).toBe(0);
    expect(csvRows(verified.stdout).map((row) => row['email_valid'])).toEqual([
      'true',
      'true',
      'false',
    ]);
    const ledger = JSON.parse((await wire.get('/_local/ledger')).text) as LedgerEntry[];
    expect(
      ledger.map(({ type, address, credits, refund }) => [type, address, credits, refund]),
    ).toEqual([
      ['email', 'good@sluice.test', 1, 0],
      ['email', 'bad@sluice.test', 1, 0],
    ]);
    expect((await wire.get('/_local/ledger', { key: null })).status).toBe(401);

    const ended = await serving.stop();
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(ended.stdout.toString()).toBe(`${serving.baseUrl}\n`);
    expect(parseLog(ended.stderr)).toMatchObject([{ event: 'api_key', api_key: apiKey }]);
  });

  it('takes its key and its limits from outside, prints no key, and ends on SIGINT with 0', async () => {
    const limits = ['--email-credits', '7', '--phone-credits', '0', '--max-file-size', '20'];
    const serving = await serve(limits, { SLUICE_API_KEY: 'a-key-of-my-own' });
    const wire = new Wire({ baseUrl: serving.baseUrl, apiKey: 'a-key-of-my-own' });
    expect((await wire.get('/v1/account/credits')).json).toEqual({
      email_credit: 7,
      phone_credit: 0,
    });
    expect((await wire.uploadAnswer(['a@sluice.test', 'b@sluice.test'])).status).toBe(413);
    expect(await serving.stop('SIGINT')).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  it('answers 429 above its rate', async () => {
    const serving = await serve(['--rate', '1'], { SLUICE_API_KEY: 'k' });
    const wire = new Wire({ baseUrl: serving.baseUrl, apiKey: 'k' });
    await wire.get('/v1/account/credits');
    expect((await wire.get('/v1/account/credits')).status).toBe(429);
    await serving.stop();
  });

  it('keeps its data and its key where it is asked to, one service at a time', async () => {
    const data = join(await withFolder(), 'service');
    const first = await serve(['--data', data, '--json-log']);
    const apiKey = await newKey(first);
    const uuid = await new Wire({ baseUrl: first.baseUrl, apiKey }).upload(['a@sluice.test']);
    const rival = await runInProcess(['serve', '--port', '0', '--data', data]);
    expect(rival).toMatchObject({ code: 2, stderr: expect.stringContaining('[state_locked]') });
    // Nor is it free elsewhere on the machine, where no socket of the first is seen: the file is locked,
    const line = 'flock -n -E 99 "$DATA/lock" true';
    expect(await runShell(line, { env: { DATA: data } })).toMatchObject({ code: 99 });
    // and the same command is refused in a network of its own, where this user may make one.
    const apart = process.getuid?.() === 0 ? 'unshare -n' : 'unshare -rn';
    if ((await runShell(`${apart} true`)).code === 0) {
      const again = `${apart} "$NODE" "$PROGRAM" serve --port 0 --data "$DATA"`;
      expect(await runShell(again, { env: { DATA: data } })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('[state_locked]'),
      });
    }
    // However it ends.
    await first.stop('SIGKILL');

    const second = await serve(['--data', data]);
    const list = await new Wire({ baseUrl: second.baseUrl, apiKey }).get('/v1/batch');
    expect(list.json).toMatchObject([{ batch_uuid: uuid }]);
    expect((await second.stop()).stderr).toBe('');
  });

  it('ends with 2 when it cannot listen, and with 6 when it cannot keep its data', async () => {
    const folder = await withFolder();
    const taken = createServer();
    const { port } = new URL(await listen(taken));
    expect(await runInProcess(['serve', '--port', port])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[port_in_use]'),
    });
    await writeFile(join(folder, 'file'), '');
    const ended = await runInProcess(['serve', '--port', '0', '--data', 'file'], { cwd: folder });
    expect(ended.code).toBe(6);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'output_failed', file: 'file' }]);
  });

  it.each<[string, readonly string[]]>([
    ['--port', ['-1', '65536', 'x', '1.5']],
    ['--email-credits', ['-1', 'x']],
    ['--phone-credits', ['-1', 'x']],
    ['--parse-delay', ['-1', '1.5', 'x', '2147483648']],
    ['--verify-delay', ['-1', '1.5', 'x', '2147483648']],
    ['--rate', ['0', 'x']],
    ['--max-file-size', ['0', 'x']],
    ['--faults', ['missing.json']],
  ])('%s takes no bad value', async (name, values) => {
    const folder = await withFolder();
    for (const value of values) {
      const ended = await runInProcess(['serve', `${name}=${value}`], { cwd: folder });
      expect(ended, value).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(name.slice(2, 6)),
      });
    }
  });

  it('takes no argument and no unknown option', async () => {
    const folder = await withFolder();
    for (const args of [['8080'], ['--prot', '1']]) {
      expect((await runInProcess(['serve', ...args], { cwd: folder })).code).toBe(2);
    }
  });
});
