import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildService } from './service-process.js';

let built: ReturnType<typeof buildService>;

beforeAll(() => {
  built = buildService();
});
afterAll(() => built.remove());

/** Runs a script in a process of its own, which must end by itself; gives what it printed. */
async function run(script: string): Promise<{ code: number | null; printed: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, printed };
}

const prelude = () => `
  import { readdir } from 'node:fs/promises';
  import { request } from 'node:http';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { createService } from ${JSON.stringify(built.url)};
  const folders = async () => {
    const found = [];
    for (const name of await readdir(tmpdir())) {
      if (!name.startsWith('sluice-process-')) continue;
      found.push(...await readdir(join(tmpdir(), name)).catch(() => []));
    }
    return found.filter((name) => name !== 'lock');
  };
  const send = (service, method, path, body) => new Promise((resolve) => {
    const sent = request(service.baseUrl + path, {
      method, headers: {
        'X-Api-Key': service.apiKey, 'Content-Type': 'multipart/form-data; boundary=b',
      },
    });
    sent.on('error', () => resolve('cut'));
    sent.on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('error', () => resolve('cut'));
      response.on('end', () => resolve(JSON.parse(text)));
    });
    sent.end(body);
  });
  const field = (name, value) => '--b\\r\\nContent-Disposition: form-data; name="' + name + '"\\r\\n\\r\\n' + value + '\\r\\n';
  let lines = '';
  for (let at = 0; at < 30000; at += 1) lines += 'good' + at + '@sluice.test\\n';
  const form = field('name', 'n') + field('type', 'email') + field('target_country', 'US') + field('file', lines) + '--b--\\r\\n';
`;

describe('a service that is closed', () => {
  it('with requests and work in flight leaves nothing open, and no folder behind', async () => {
    const { code, printed } = await run(`${prelude()}
      const service = await createService({ verifyDelayMs: 1000000000 });
      const { batch_uuid: ongoing } = await send(service, 'POST', '/v1/batch', form);
      await send(service, 'PATCH', '/v1/batch/' + ongoing);
      while ((await send(service, 'GET', '/v1/batch/' + ongoing)).status === 'parsing_content');
      await send(service, 'POST', '/v1/batch/' + ongoing);
      const { batch_uuid: parsing } = await send(service, 'POST', '/v1/batch', form);
      await send(service, 'PATCH', '/v1/batch/' + parsing);
      const inFlight = [
        send(service, 'GET', '/v1/batch/' + parsing + '/details'),
        send(service, 'POST', '/v1/batch', form),
        send(service, 'POST', '/v1/format', field('type', 'phone') + field('target_country', 'US') + field('file', lines) + '--b--\\r\\n'),
      ];
      await new Promise((resolve) => setImmediate(resolve));
      await service.close();
      await service.close();
      await Promise.all(inFlight);
      console.log('closed');
    `);
    expect({ code, printed }).toEqual({ code: 0, printed: 'closed\n' });
  });

  it('removes its private folder', async () => {
    const { code, printed } = await run(`${prelude()}
      const before = new Set(await folders());
      const service = await createService();
      const made = (await folders()).filter((name) => !before.has(name));
      await send(service, 'POST', '/v1/batch', form);
      await service.close();
      const left = new Set(await folders());
      console.log(made.length > 0 && made.some((name) => !left.has(name)) ? 'gone' : 'left');
    `);
    expect({ code, printed }).toEqual({ code: 0, printed: 'gone\n' });
  });
});
