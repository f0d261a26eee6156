import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../../../src/cli/commands.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { type LoggedEvent, parseLog } from '../../harness/logged-events.js';
import { answerInProcess, runInProcess } from '../../harness/run-in-process.js';
import { startSluice } from '../../harness/run-sluice.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
  await writeFile(join(folder, 'list.csv'), 'email\ngood1@sluice.test\ngood2@gmial.com\n');
  await writeFile(join(folder, 'emails.txt'), 'good1@sluice.test\n');
});

const columns = ['--email', 'email', '--country', 'US', '--json-log'];
const verify = ['verify', 'list.csv', ...columns];
const toFile = ['-o', 'out.csv', '--poll-interval', '5'];

/** Every line of standard error, which is an event with the time and its severity. */
async function eventsOf(
  args: readonly string[],
  env: Readonly<Record<string, string>> = connectTo(service),
): Promise<{ readonly code: number | null; readonly events: readonly LoggedEvent[] }> {
  const { code, stderr } = await runInProcess(args, { cwd: folder, env });
  const events = parseLog(stderr);
  for (const { event, severity, time } of events) {
    expect(event).toMatch(/^[a-z_]+$/);
    expect(['info', 'notice', 'warning', 'error']).toContain(severity);
    expect(Date.parse(String(time))).not.toBeNaN();
  }
  return { code, events };
}

const names = (events: readonly LoggedEvent[]): readonly string[] =>
  events.map(({ event }) => event);

describe('--json-log', () => {
  it.each([
    ['a run', toFile, 0, 'finished'],
    ['a run to standard output', [], 0, 'streaming'],
    ['a dry run', ['--dry-run'], 0, 'estimate'],
    ['a preflight', [...toFile, '--preflight', '--yes'], 0, 'prepared'],
    ['a run that is detached', [...toFile, '--detach'], 75, 'error'],
    ['a run that starts over', [...toFile, '--fresh', '--yes'], 0, 'finished'],
    ['a question that nobody answers', [...toFile, '--preflight'], 2, 'error'],
    ['a list that is not there', ['missing.csv', ...toFile], 6, 'error'],
    ['an option that there is not', ['--nope'], 2, 'error'],
    ['a value that an option does not take', ['--limit', 'x'], 2, 'error'],
    ['options that do not go together', ['--rejects', 'r.csv'], 2, 'error'],
    ['a configuration that is not there', ['--config', 'c.json'], 2, 'error'],
  ])('writes nothing but events: %s', async (_what, more, code, event) => {
    const ended = await eventsOf([...verify, ...more]);
    expect(ended.code).toBe(code);
    expect(names(ended.events)).toContain(event);
    for (const each of ended.events)
      expect(each['message']).toEqual(each['verdict'] ?? expect.any(String));
  });

  it.each([
    ['a run', {}, 0, 'finished'],
    ['a list that is not there', { email: ['none'] }, 2, 'error'],
    ['a value that an option does not take', { limit: 'x' }, 2, 'error'],
    ['an option that there is not', { nope: 1 }, 2, 'error'],
    ['options that do not go together', { rejects: 'r.csv' }, 2, 'error'],
    ['an environment file that others may read', { 'env-file': 'open.env' }, 2, 'open_key_file'],
  ])('is wanted by a configuration: %s', async (_what, more, code, event) => {
    await writeFile(join(folder, 'open.env'), 'SLUICE_API_KEY=key\n', { mode: 0o644 });
    const config = {
      'json-log': true,
      email: ['email'],
      country: 'US',
      output: 'out.csv',
      ...more,
    };
    await writeFile(join(folder, 'c.json'), JSON.stringify(config));
    const ended = await eventsOf(['verify', 'list.csv', '--config', 'c.json'], {});
    expect(ended.code).toBe(code);
    expect(names(ended.events)).toContain(event);
  });

  it.each([
    ['no column named', ['verify', 'list.csv'], 2, 'command'],
    ['no such command', ['nope'], 2, 'error'],
    ['no such topic', ['help', 'nope'], 2, 'error'],
    ['no such second word', ['batch', 'nope'], 2, 'error'],
    ['status of nothing', ['status', 'out.csv.sluice'], 2, 'error'],
    ['abandon of nothing', ['abandon', 'out.csv.sluice'], 2, 'error'],
    ['history of nothing', ['history', 'nothing.history'], 2, 'error'],
    [
      'a batch',
      ['batch', 'upload', 'emails.txt', '--type', 'email', '--country', 'US'],
      0,
      undefined,
    ],
    ['a batch without its service', ['batch', 'list', '--base-url', 'http://x.test'], 2, 'error'],
    ['a store without its address', ['store', 'create'], 2, 'error'],
    ['a port that is none', ['serve', '--port', 'x'], 2, 'error'],
    ['a doctor', ['doctor'], 0, undefined],
  ])('writes nothing but events: %s', async (_what, args, code, event) => {
    const ended = await eventsOf([...args, '--json-log']);
    expect(ended.code).toBe(code);
    if (event === undefined) expect(ended.events).toEqual([]);
    else expect(names(ended.events)).toContain(event);
  });

  it.each(commands.flatMap((command) => [command, ...(command.subcommands ?? [])]))(
    'writes nothing but events: $name without arguments, and with an option that it has not',
    async ({ name }) => {
      const line = [...name.split(' '), '--json-log'];
      // What serves goes on until it is stopped.
      if (name !== 'serve') await eventsOf(line, {});
      const refused = await eventsOf([...line, '--no-such-option'], {});
      expect(refused.code).toBe(2);
      expect(refused.events).toMatchObject([{ event: 'error', code: 'invalid_option' }]);
    },
  );

  it('has what abandon, and the single requests of a local service, have to say', async () => {
    await runInProcess([...verify, ...toFile, '--detach'], inFolder(folder, service));
    const abandoned = await eventsOf(['abandon', 'out.csv.sluice', '--yes', '--json-log']);
    expect(names(abandoned.events)).toContain('abandoned');
    const single = [
      'check',
      'good1@sluice.test',
      '--type',
      'email',
      '--country',
      'US',
      '--json-log',
    ];
    expect(names((await eventsOf(single, {})).events)).toContain('local_service');
  });

  it('has what a server says, and who stopped a run', async () => {
    const server = startSluice(['serve', '--port', '0', '--json-log'], { cwd: folder });
    await server.printed(/\n/);
    server.child.kill('SIGTERM');
    expect(names(parseLog((await server.ended).stderr))).toContain('api_key');
  });

  it('has a defect, and warnings of Node.js, in the same form', async () => {
    // Once the command listens to what its process throws.
    const script = `process.on('newListener', (name) => {
      if (name !== 'uncaughtException') return;
      setImmediate(() => {
        process.emitWarning('old');
        setImmediate(() => { throw new Error('broken'); });
      });
    });`;
    const preload = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const server = startSluice(['serve', '--port', '0', '--json-log'], {
      cwd: folder,
      env: { NODE_OPTIONS: preload },
    });
    const { code, stderr } = await server.ended;
    expect(code).toBe(1);
    const events = parseLog(stderr);
    expect(names(events)).toEqual(expect.arrayContaining(['process_warning', 'error']));
    expect(events.at(-1)).toMatchObject({ event: 'error', code: null, exit_code: 1 });
  });

  it('asks nobody, also at a terminal', async () => {
    const asked = await answerInProcess([...verify, ...toFile, '--preflight'], {
      cwd: folder,
      env: connectTo(service),
      answers: [],
    });
    expect(asked.code).toBe(2);
    expect(asked.seen).not.toContain('[y/N]');
  });
});
