import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mailboxes, openExchanger } from '../../live/smtp/exchanger.js';
import { a, mx, records, startNameServer } from '../../live/dns/name-server.js';
import { withFolder } from '../../service/with-service.js';
import { Wire } from '../../service/wire.js';
import { runInProcess } from '../harness/run-in-process.js';
import { serve } from './serving.js';

describe('sluice serve --verify network', () => {
  it('asks exchangers as its options say', async () => {
    const exchanger = await openExchanger('127.0.6.1', { rcpt: mailboxes('anna') });
    onTestFinished(() => exchanger.close());
    const names = await startNameServer(({ type, name }) => {
      if (type === 'MX') return records(mx(name, 10, 'mx.lab'));
      return type === 'A' ? records(a(name, '127.0.6.1')) : {};
    });
    const folder = await withFolder();
    const provider = join(folder, 'provider.json');
    await writeFile(
      provider,
      JSON.stringify({
        url: 'http://127.0.0.1:1/{number}',
        headers: { 'X-Token': 'env:TOKEN_OF_LOOKUPS' },
        fields: { status: 'status' },
      }),
    );
    const serving = await serve(
      [
        '--verify=network',
        '--helo=verify.sluice-lab.net',
        '--mail-from=probe@sluice-lab.net',
        `--resolvers=127.0.0.1:${names.port}`,
        `--smtp-port=${exchanger.port}`,
        '--allow-ranges=127.0.0.0/8',
        '--no-starttls',
        '--conversations=4',
        '--per-exchanger=1',
        '--recipients=10',
        '--reply-timeout=2.5',
        '--retry-after=0.05,0.1',
        `--phone-provider=${provider}`,
      ],
      { SLUICE_API_KEY: 'a-key', TOKEN_OF_LOOKUPS: 'a-secret' },
    );
    const wire = new Wire({ baseUrl: serving.baseUrl, apiKey: 'a-key' });
    const { batch_uuid } = await wire.verify(['anna@firm.lab', 'bert@firm.lab']);
    expect(await wire.records(batch_uuid)).toMatchObject({
      'anna@firm.lab': { valid: true, result: 'ok' },
      'bert@firm.lab': { wrong: true, result: 'invalid' },
    });
    const phones = await wire.verify(['+4915112345678'], { type: 'phone', target_country: 'DE' });
    expect(await wire.records(phones.batch_uuid)).toMatchObject({
      '+4915112345678': { valid: true, status: 'unknown' },
    });
    expect(exchanger.commands).toContain('EHLO verify.sluice-lab.net');
    expect(exchanger.commands).toContain('MAIL FROM:<probe@sluice-lab.net>');
    const ended = await serving.stop();
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it.each<[string, readonly string[], RegExp]>([
    ['another way', ['--verify=guess'], /--verify.*"guess"/],
    ['options without it', ['--helo=a.lab'], /--helo.*--verify/],
    ['a switch without it', ['--no-starttls', '--verify=offline'], /--no-starttls/],
    ['a name without a dot', ['--verify=network', '--helo=mail'], /--helo/],
    [
      'a time that is none',
      ['--verify=network', '--helo=a.lab', '--retry-after=soon'],
      /--retry-after/,
    ],
    [
      'a provider that is not there',
      ['--verify=network', '--helo=a.lab', '--phone-provider=none.json'],
      /none\.json/,
    ],
    ['a range that is none', ['--verify=network', '--helo=a.lab', '--allow-ranges=home'], /"home"/],
  ])('refuses %s', async (_what, args, message) => {
    const ended = await runInProcess(['serve', '--port', '0', ...args]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
  });
});
