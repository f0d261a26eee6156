import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsOf } from '../cli/harness/logged-events.js';
import { runInProcess } from '../cli/harness/run-in-process.js';
import { withFolder } from '../service/with-service.js';
import { mailboxes } from './smtp/exchanger.js';
import { a, mx, records, startNameServer } from './dns/name-server.js';
import { exchangersOf } from './smtp/probe.js';

const list = 'email\nanna@x1.lab\nbert@x1.lab\nanna@gone.lab\n';

async function verify(args: readonly string[]) {
  const cwd = await withFolder();
  await writeFile(join(cwd, 'list.csv'), list);
  const ended = await runInProcess(
    ['verify', 'list.csv', '-e', 'email', '-c', 'US', '-o', 'out.csv', '--quiet', ...args],
    { cwd, env: {} },
  );
  return { cwd, ended };
}

describe('sluice verify --local --verify network', () => {
  it('asks exchangers from this process, and needs no second command', async () => {
    const [exchanger] = await exchangersOf([{ rcpt: mailboxes('anna') }]);
    const names = await startNameServer(({ type, name }) => {
      if (name === 'gone.lab') return { rcode: 'NXDOMAIN' };
      if (type === 'MX') return records(mx(name, 10, 'mx.lab'));
      return type === 'A' ? records(a(name, exchanger.address)) : {};
    });
    const { cwd, ended } = await verify([
      '--local',
      '--verify',
      'network',
      '--helo',
      'verify.sluice-lab.net',
      '--resolvers',
      `${names.address}:${names.port}`,
      '--smtp-port',
      `${exchanger.port}`,
      '--allow-ranges',
      '127.0.0.0/8',
      '--ask-limits',
      '100/second,1000/day',
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const rows = (await readFile(join(cwd, 'out.csv'), 'utf8')).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(',').slice(0, 6).join(','))).toEqual([
      'anna@x1.lab,verified,,true,false,false',
      'bert@x1.lab,verified,,false,true,false',
      'anna@gone.lab,verified,,false,true,false',
    ]);
    expect(exchanger.commands).toContain('EHLO verify.sluice-lab.net');
    expect(exchanger.commands.some((command) => /^DATA/i.test(command))).toBe(false);
  });

  it.each<[string, readonly string[], string]>([
    ['without --local', ['--verify', 'network'], '--verify'],
    ['an option of it without it', ['--local', '--helo', 'a.lab'], '--helo'],
    ['another way', ['--local', '--verify', 'magic'], '--verify'],
    [
      'limits that are none',
      ['--local', '--verify', 'network', '--helo', 'a.lab', '--ask-limits', 'five'],
      '--ask-limits',
    ],
  ])('refuses %s before anything is read', async (_what, args, option) => {
    const { ended } = await verify(args);
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option', option }]);
  });
});
