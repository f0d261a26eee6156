import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatCommand } from '../../../src/cli/commands/batch-files.js';
import { checkCommand, creditsCommand } from '../../../src/cli/commands/single-requests.js';
import { targetsCommand } from '../../../src/cli/commands/targets.js';
import { ParsedOptions } from '../../../src/cli/command.js';
import { Interruption } from '../../../src/cli/process/exit-code.js';
import { withService as withServiceOf } from '../../../src/cli/connect.js';
import { targetIndustries } from '../../../src/contract/targets.js';
import type { ServiceOptions } from '../../../src/service/index.js';
import { chargesOf } from '../harness/charges.js';
import { connectTo } from '../harness/connect-to.js';
import { startFront } from '../harness/front.js';
import { eventsOf } from '../harness/logged-events.js';
import { runCommand } from '../harness/run-command.js';
import { runInProcess } from '../harness/run-in-process.js';
import { withFolder, withService } from '../../service/with-service.js';

async function environmentOf(options: ServiceOptions = {}): Promise<Record<string, string>> {
  const { service } = await withService(options);
  return connectTo(service);
}

describe('sluice credits', () => {
  it('shows both balances, as text and as JSON', async () => {
    const environment = await environmentOf({ emailCredits: 12, phoneCredits: 3.5 });
    expect(await runCommand(creditsCommand, [], environment)).toMatchObject({
      code: 0,
      stdout: 'email credits  12\nphone credits  3.5\n',
      stderr: '',
    });
    const { stdout } = await runCommand(creditsCommand, ['--json'], environment);
    expect(JSON.parse(stdout)).toEqual({ email_credit: 12, phone_credit: 3.5 });
  });

  it('ends with 4 when the key is refused, and with 2 without a service', async () => {
    const environment = { ...(await environmentOf()), SLUICE_API_KEY: 'another' };
    expect(await runCommand(creditsCommand, [], environment)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('[unauthorized]') as string,
    });
    expect(await runCommand(creditsCommand, [])).toMatchObject({ code: 2, stdout: '' });
    expect(await runCommand(creditsCommand, ['extra'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a single request', () => {
  it.each([
    [10_000, []],
    [60_000, [['give-up-after', ['60']]]],
  ] as const)(
    'is given up after %s ms with %j: a person waits for it',
    async (patienceMs, given) => {
      const input = {
        options: new ParsedOptions(new Map(given)),
        env: { SLUICE_BASE_URL: 'http://127.0.0.1:9', SLUICE_API_KEY: 'k' },
      } as unknown as Parameters<typeof withServiceOf>[0];
      expect(await withServiceOf(input, async (client) => client.giveUpAfterMs)).toBe(patienceMs);
    },
  );
});

describe('sluice check', () => {
  it('verifies one address, the verdict first', async () => {
    const { code, stdout, stderr } = await runCommand(checkCommand, ['ada@gmail.com', '--local']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^email +ada@gmail\.com\nvalid +false\nwrong +false\nunknown +true\n/);
    expect(stdout).toMatch(/^is_free +true$/m);
    // A phone has a status of its own, beside that of the answer.
    const phone = await runCommand(checkCommand, ['+1 202 555 0123', '--country=US', '--local']);
    expect(phone.stdout).toMatch(/^status +unknown$/m);
  });

  it('uses the local service with --local, whatever service the environment names', async () => {
    const environment = { SLUICE_BASE_URL: 'http://127.0.0.1:9', SLUICE_API_KEY: 'k' };
    const args = ['ada@gmail.com', '--local'];
    expect(await runCommand(checkCommand, args, environment)).toMatchObject({ code: 0 });
  });

  it('says that the local service judges when nobody asked for it', async () => {
    const { events } = await runCommand(checkCommand, ['ada@example.com']);
    expect(events).toMatchObject([{ event: 'local_service', severity: 'warning' }]);
  });

  it('charges one credit, once', async () => {
    const { service } = await withService();
    const line = ['+12025550123', '--country', 'us', '--json'];
    const { code, stdout } = await runCommand(checkCommand, line, connectTo(service));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', result: { phone: '+12025550123' } });
    expect(await chargesOf(service)).toMatchObject([
      { type: 'phone', address: '+12025550123', credits: 1 },
    ]);
  });

  it('reads the country of a number from its calling code, and suggests a domain', async () => {
    const { service } = await withService();
    expect(await runCommand(checkCommand, ['+447700900123'], connectTo(service))).toMatchObject({
      code: 2,
    });
    for (const number of ['+12025550123', '+4930123456', '+1 416 555 0123']) {
      expect((await runCommand(checkCommand, [number], connectTo(service))).code).toBe(0);
    }
    expect(await chargesOf(service)).toHaveLength(3);
    const { stdout } = await runCommand(checkCommand, ['user@gmial.com'], connectTo(service));
    expect(stdout).toMatch(/^suggestion +gmail\.com$/m);
  });

  it.each([
    [['ada,grace@example.com', '--local'], 3, 'status  parse_error\n'],
    [['hello', '--local'], 2, '', { fault: 'unsupported' }],
    [['nope', '--country', 'us', '--local'], 2, '', { fault: 'unsupported' }],
    [['ada@', '--local'], 2, '', { option: '--type', fault: 'unsupported' }],
    [['5551234', '--local'], 2, '', { code: 'country_missing', option: '--country' }],
    [[], 2, '', { fault: 'missing' }],
    [['a@example.com', 'b@example.com'], 2, '', { fault: 'repeated' }],
    [[' '], 2, '', { fault: 'empty' }],
    [['a@example.com', '--type', 'mail', '--local'], 2, '', { option: '--type' }],
  ])('%j ends with %i', async (args, code, stdout, error?: object) => {
    const ended = await runCommand(checkCommand, args);
    expect(ended).toMatchObject({ code, stdout });
    expect(eventsOf(ended, 'error')).toMatchObject(error ? [error] : []);
  });

  it('says that it may be charged, where it is interrupted after it was sent', async () => {
    const { service } = await withService();
    const stop = new AbortController();
    const front = await startFront(service, () => ({
      send: () => stop.abort(new Interruption('SIGINT')),
    }));
    const env = connectTo(front);
    const ended = await runInProcess(['check', 'a@example.com'], { env, signal: stop.signal });
    expect(ended).toMatchObject({
      code: 130,
      events: [{ event: 'charge_in_doubt', operation: 'verifyUnit' }, { event: 'error' }],
    });
    const before = await runInProcess(['check', 'a@example.com'], { env, signal: stop.signal });
    expect(before).toMatchObject({ code: 130, events: [{ event: 'error' }] });
  });

  it('ends with 5 when the credits are used up', async () => {
    const environment = await environmentOf({ emailCredits: 0 });
    expect(await runCommand(checkCommand, ['a@example.com'], environment)).toMatchObject({
      code: 5,
      events: [{ event: 'error', code: 'payment_required' }],
    });
  });
});

describe('sluice format', () => {
  async function fileOf(text: string): Promise<string> {
    const folder = await withFolder();
    const path = join(folder, 'phones.txt');
    await writeFile(path, text);
    return path;
  }

  it('shows each line beside its normal form', async () => {
    const path = await fileOf('(202) 555-0123\nno number\n');
    const args = [path, '--type', 'phone', '--country', 'US', '--local'];
    expect(await runCommand(formatCommand, args)).toMatchObject({
      code: 0,
      stdout: '(202) 555-0123  +12025550123\nno number       -\n',
      stderr: '',
    });
    const { stdout } = await runCommand(formatCommand, [...args, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ formatted: 1, failed: 1 });
  });

  it('sends the key to nobody, and shows an answer of any shape', async () => {
    const { service } = await withService();
    const front = await startFront(service, () => ({ status: 200, body: { lines: ['+1', '+2'] } }));
    const path = await fileOf('1\n2\n');
    const args = [path, '--type', 'phone', '--country', 'US'];
    expect(await runCommand(formatCommand, args, connectTo(front))).toMatchObject({
      code: 0,
      stdout: 'lines[0]  +1\nlines[1]  +2\n',
      stderr: '',
    });
  });

  it('ends with 6 when the file is not there', async () => {
    const args = ['missing.txt', '--type', 'phone', '--country', 'US', '--local'];
    expect(await runCommand(formatCommand, args)).toMatchObject({ code: 6, stdout: '' });
  });
});

describe('sluice targets', () => {
  it('lists every meaning with its id, without a service', async () => {
    const { code, stdout } = await runCommand(targetsCommand, []);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^--target-audience\n {4}1 {2}Agency \/ Consultants\n/);
    expect(stdout).toContain('\n\n--target-industry\n');
    expect(stdout).toMatch(/^--target-objective$/m);
  });

  it('lists one table as JSON', async () => {
    const { stdout } = await runCommand(targetsCommand, ['industry', '--json']);
    const { industry } = JSON.parse(stdout) as { industry: { id: number; name: string }[] };
    expect(Object.fromEntries(industry.map(({ id, name }) => [id, name]))).toEqual(
      targetIndustries,
    );
  });

  it('guesses what was meant', async () => {
    expect(await runCommand(targetsCommand, ['industries'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(' industry?') as string,
    });
  });
});
