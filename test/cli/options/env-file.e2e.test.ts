import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../src/service/index.js';
import { withFolder, withService } from '../../service/with-service.js';
import { chargesOf } from '../harness/charges.js';
import { connectTo } from '../harness/connect-to.js';
import { eventsOf } from '../harness/logged-events.js';
import { runInProcess } from '../harness/run-in-process.js';
import { runSluice } from '../harness/run-sluice.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
  await writeFile(join(folder, 'list.csv'), 'Email\ngood1@sluice.test\n');
});

const verify = ['verify', '-o', 'out.csv', '--email', 'Email', '--country', 'US'];

async function inFolder(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof runInProcess> {
  return runInProcess(args, { cwd: folder, env });
}

async function envFile(name: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([key, value]) => `${key}="${value}"`);
  await writeFile(join(folder, name), `# the service\n${lines.join('\n')}\n`, { mode: 0o644 });
}

describe('--env-file', () => {
  it('gives the service and the key to any command, and prints neither', async () => {
    await envFile('.env', connectTo(service));
    const ended = await inFolder([...verify, 'list.csv', '--env-file', '.env', '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(1);
    // The key is open to others until they lose the right.
    expect(eventsOf(ended, 'open_key_file')).toMatchObject([{ path: '.env' }]);
    await chmod(join(folder, '.env'), 0o600);
    const credits = await inFolder(['credits', '--env-file', '.env', '--json']);
    expect(eventsOf(credits, 'open_key_file')).toEqual([]);
    expect(JSON.parse(String(credits.stdout))).toMatchObject({ email_credit: expect.any(Number) });
    for (const { stdout, stderr } of [ended, credits]) {
      expect(`${String(stdout)}${stderr}`).not.toContain(service.apiKey);
    }
  });

  it('is no more open than the file of --api-key-file', async () => {
    await writeFile(join(folder, 'key'), service.apiKey, { mode: 0o644 });
    const credits = ['credits', '--base-url', service.baseUrl, '--api-key-file', 'key', '--json'];
    const open = await inFolder(credits);
    expect(eventsOf(open, 'open_key_file')).toMatchObject([{ path: 'key' }]);
    await writeFile(join(folder, 'c.json'), JSON.stringify({ 'api-key-file': 'key' }));
    const line = [...verify, 'list.csv', '--base-url', service.baseUrl, '--config', 'c.json'];
    expect(eventsOf(await inFolder(line), 'open_key_file')).toHaveLength(1);
    await chmod(join(folder, 'key'), 0o600);
    expect(eventsOf(await inFolder(credits), 'open_key_file')).toEqual([]);
  });

  it('holds what env:NAME stands for', async () => {
    await envFile('.env', { ...connectTo(service), LIST: 'sqlite:missing.db' });
    const ended = await inFolder([
      ...verify,
      'env:LIST',
      '--query',
      'select 1',
      '--env-file',
      '.env',
    ]);
    expect(ended.stderr).toContain('missing.db');
  });

  it('yields to what is set already', async () => {
    await envFile('.env', { ...connectTo(service), SLUICE_API_KEY: 'another-key' });
    const ended = await inFolder([...verify, 'list.csv', '--env-file', '.env'], {
      SLUICE_API_KEY: service.apiKey,
    });
    expect(ended.code, ended.stderr).toBe(0);
  });

  it('may stand in the file of --config', async () => {
    await mkdir(join(folder, 'settings'));
    await envFile('settings/service.env', connectTo(service));
    await writeFile(
      join(folder, 'nightly.json'),
      JSON.stringify({ 'env-file': 'settings/service.env', email: 'Email', country: 'US' }),
    );
    const ended = await inFolder(['verify', 'list.csv', '-o', 'o.csv', '--config', 'nightly.json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await chargesOf(service)).toHaveLength(1);
  });

  it.each(['no.env', 'empty.env'])('ends with 2 for %s, and asks nobody', async (name) => {
    await envFile('empty.env', {});
    const ended = await inFolder([...verify, 'list.csv', '--env-file', name], connectTo(service));
    expect(ended).toMatchObject({ code: 2 });
    expect(eventsOf(ended, 'error')).toMatchObject([{ option: '--env-file' }]);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('is the only way to it: a .env that lies there is not read', async () => {
    await envFile('.env', connectTo(service));
    const ended = await inFolder([...verify, 'list.csv']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'local_service')).toHaveLength(1);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('reaches what asks the process itself, such as a proxy', async () => {
    await envFile('proxy.env', {
      SLUICE_BASE_URL: 'https://service.example',
      SLUICE_API_KEY: 'a-key',
      HTTPS_PROXY: 'no proxy',
    });
    const ended = await runSluice(['credits', '--env-file', 'proxy.env'], { cwd: folder });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('HTTPS_PROXY');
  });
});
