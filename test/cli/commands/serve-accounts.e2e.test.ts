import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFolder } from '../../service/with-service.js';
import { Wire } from '../../service/wire.js';
import { runInProcess } from '../harness/run-in-process.js';
import { serve } from './serving.js';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

describe('sluice serve --accounts', () => {
  it('serves several accounts, and reads their keys again on SIGHUP', async () => {
    const folder = await withFolder();
    const file = join(folder, 'accounts.json');
    const write = async (accounts: unknown) => writeFile(file, JSON.stringify(accounts));
    await write([
      { name: 'a', key: 'key-of-a', email_credit: 5, phone_credit: 0 },
      { name: 'b', key_sha256: hashOf('key-of-b'), email_credit: 7, phone_credit: 1 },
    ]);
    const data = join(folder, 'data');
    // The environment's key is for the one account that there is without a file.
    const serving = await serve(['--accounts', file, '--data', data, '--json-log'], {
      SLUICE_API_KEY: 'other',
    });
    const wire = new Wire({ baseUrl: serving.baseUrl, apiKey: 'key-of-a' });
    const credits = async (key: string) => wire.get('/v1/account/credits', { key });
    expect((await credits('key-of-a')).json).toEqual({ email_credit: 5, phone_credit: 0 });
    expect((await credits('key-of-b')).json).toEqual({ email_credit: 7, phone_credit: 1 });
    expect((await credits('other')).status).toBe(401);
    const uuid = await wire.upload(['good@sluice.test']);

    await write([
      { name: 'a', key: 'new-key-of-a' },
      { name: 'c', key: 'key-of-c', suspended: true },
    ]);
    serving.child.kill('SIGHUP');
    await serving.reported('accounts_read', { accounts: 2 });
    expect((await credits('key-of-a')).status).toBe(401);
    expect((await credits('key-of-b')).status).toBe(401);
    expect((await credits('key-of-c')).status).toBe(403);
    expect((await wire.get('/v1/batch', { key: 'new-key-of-a' })).list).toMatchObject([
      { batch_uuid: uuid },
    ]);

    await writeFile(file, '[{"name":"a","key":"hunter2"');
    serving.child.kill('SIGHUP');
    await serving.reported('accounts_refused');
    expect((await credits('new-key-of-a')).status).toBe(200);

    const ended = await serving.stop();
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toMatch(/key-of|hunter2/);
    // Keys are hashed at rest.
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      expect(await readFile(join(entry.parentPath, entry.name), 'latin1')).not.toContain('key-of');
    }
  });

  it.each<[string, readonly string[], RegExp]>([
    ['a file that is not there', ['--accounts=missing.json'], /accounts/],
    ['a file that is not JSON', ['--accounts=broken.json'], /JSON/],
    [
      'credits beside it',
      ['--accounts=good.json', '--email-credits=1'],
      /--email-credits.*--accounts/,
    ],
  ])('refuses %s', async (_what, args, said) => {
    const cwd = await withFolder();
    await writeFile(join(cwd, 'broken.json'), '[');
    await writeFile(join(cwd, 'good.json'), '[{"name":"a","key":"k"}]');
    const ended = await runInProcess(['serve', '--port', '0', ...args], { cwd });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(said) as unknown });
  });
});
