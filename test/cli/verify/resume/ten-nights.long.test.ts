import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { summaryFileSchema } from '../../../../src/index.js';
import type { Account, Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { csvRows } from '../../harness/csv-cells.js';
import { startFront, type Front } from '../../harness/front.js';
import {
  builtCommand,
  putCommand,
  starters,
  type Night,
  type NightOptions,
  type Starter,
  type Verdict,
} from './starters.js';

vi.setConfig({ testTimeout: 600_000 });

const more = ['--batch-size', '10', '--poll-interval', '20', '--give-up-after', '1'];
const down = { status: 503, body: { message: 'down for maintenance' } };
/** Makes rows long, so that an output is too large for a disk that is almost full. */
const note = 'x'.repeat(2000);

const first: Account = {
  name: 'main',
  key: 'the-first-key-of-the-account',
  emailCredits: 1_000_000,
};

/** One list, one service, one scheduler: what the nights have in common. */
class Nights {
  readonly folder: string;
  readonly service: Service;
  readonly #starter: Starter;
  #front: Front | undefined;
  /** Addresses of the list; those of `unknown` names are never told. */
  names: string[] = [];
  #account = first;
  key = first.key ?? '';
  isDown = false;
  /** Waited for before an export is answered. */
  held: Promise<void> | undefined;

  static async begin(starter: Starter): Promise<Nights> {
    const folder = await withFolder();
    await putCommand(folder, builtCommand);
    const nights = new Nights(folder, starter, (await withService({ accounts: [first] })).service);
    await nights.#open();
    return nights;
  }

  private constructor(folder: string, starter: Starter, service: Service) {
    this.folder = folder;
    this.service = service;
    this.#starter = starter;
  }

  async #open(): Promise<void> {
    this.#front = await startFront(this.service, async (request) => {
      if (this.isDown) return down;
      if (request.endsWith('/export')) await this.held;
      return undefined;
    });
  }

  async setAccount(change: Partial<Account>): Promise<void> {
    this.#account = { ...this.#account, ...change };
    await this.service.setAccounts([this.#account]);
  }

  /** Credits granted so far, so that so many are left. */
  async leaveCredits(left: number): Promise<void> {
    await this.setAccount({ emailCredits: (await this.paid()) + left });
  }

  async paid(): Promise<number> {
    const charges = await chargesOf(this.service);
    expect(new Set(charges.map(({ address }) => address)).size).toBe(charges.length);
    return charges.length;
  }

  add(count: number, kind = 'good'): void {
    const from = this.names.length;
    for (let at = from; at < from + count; at += 1) this.names.push(`${kind}${at}@sluice.test`);
  }

  async start(options: Pick<NightOptions, 'mostKib'> = {}): Promise<Night> {
    const rows = this.names.map((name) => `${name},${note}\n`);
    await writeFile(join(this.folder, 'contacts.csv'), `email,note\n${rows.join('')}`);
    const env = { SLUICE_BASE_URL: this.#front?.baseUrl ?? '', SLUICE_API_KEY: this.key };
    return this.#starter.start(this.folder, { env, more, ...options });
  }

  async read(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8').catch(() => '');
  }

  /** A night that ends well: every row is there with its result, and nothing was paid twice. */
  async good(paid: number): Promise<void> {
    const { code, verdict, printed } = await (await this.start()).ended;
    expect({ code, verdict }, `${printed}\n${await this.read('sluice.log')}`).toEqual({
      code: 0,
      verdict: 'done',
    });
    await this.expectGood(paid);
  }

  async expectGood(paid: number): Promise<void> {
    expect(await this.paid()).toBe(paid);
    const rows = csvRows(await readFile(join(this.folder, 'verified.csv')));
    expect(rows.map((row) => row['email'])).toEqual(this.names);
    expect(new Set(rows.map((row) => row['email_verification']))).toEqual(new Set(['verified']));
    expect(await this.summary()).toMatchObject({
      exit_code: 0,
      reason: null,
      rows: rows.length,
    });
    expect(existsSync(join(this.folder, 'verified.csv.sluice'))).toBe(false);
    expect(existsSync(join(this.folder, 'verified.csv.suspect'))).toBe(false);
  }

  /** A night that does not: the output is that of the night before, and the summary says why. */
  async bad(
    code: number,
    { verdict, reason, paid }: { verdict: Verdict; reason: string; paid: number },
    options?: Pick<NightOptions, 'mostKib'>,
  ): Promise<void> {
    const before = await this.read('verified.csv');
    const ended = await (await this.start(options)).ended;
    expect(
      { code: ended.code, verdict: ended.verdict },
      `${ended.printed}\n${await this.read('sluice.log')}`,
    ).toEqual({ code, verdict });
    expect(await this.read('verified.csv')).toBe(before);
    expect(await this.paid()).toBe(paid);
    expect(await this.summary()).toMatchObject({ exit_code: code, reason });
    expect(await this.read('report.html')).toContain(`Exit code ${code}`);
  }

  async summary(): Promise<unknown> {
    return summaryFileSchema.parse(JSON.parse(await this.read('summary.json')));
  }

  /** Holds exports back until it is let go. */
  hold(): () => void {
    let letGo = (): void => undefined;
    this.held = new Promise((resolve) => {
      letGo = resolve;
    });
    return () => {
      this.held = undefined;
      letGo();
    };
  }

  async untilPaid(count: number): Promise<void> {
    await vi.waitFor(async () => expect(await this.paid()).toBe(count), {
      timeout: 120_000,
      interval: 50,
    });
  }
}

describe.each(starters)('$name', (starter) => {
  it('heals by itself after whatever night', async () => {
    const nights = await Nights.begin(starter);
    nights.add(20);
    // All new.
    await nights.good(20);
    // Nothing new.
    await nights.good(20);

    // Credits gone: half of the night is paid, and the next one pays the other half.
    nights.add(20);
    await nights.leaveCredits(10);
    await nights.bad(5, { verdict: 'person', reason: 'payment_required', paid: 30 });
    await nights.setAccount({ emailCredits: 1_000_000 });
    await nights.good(40);

    // The service is down.
    nights.add(10);
    nights.isDown = true;
    await nights.bad(7, { verdict: 'retry', reason: 'service_unavailable', paid: 40 });
    nights.isDown = false;
    await nights.good(50);

    // Killed, when all is paid: it leaves no summary that would be another night's.
    nights.add(10);
    const letGo = nights.hold();
    const before = await nights.read('verified.csv');
    const killed = await nights.start();
    await nights.untilPaid(60);
    killed.kill('SIGKILL');
    await killed.ended;
    letGo();
    expect(existsSync(join(nights.folder, 'summary.json'))).toBe(false);
    expect(await nights.read('verified.csv')).toBe(before);
    await nights.good(60);

    // Suspect: too many unknown verdicts stay beside the output.
    const good = [...nights.names];
    nights.add(30, 'unknown');
    await nights.bad(8, { verdict: 'person', reason: 'suspect', paid: 90 });
    expect(await nights.read('verified.csv.suspect')).toContain('unknown60@sluice.test');
    expect(existsSync(join(nights.folder, 'verified.csv.sluice'))).toBe(false);
    nights.names = good;
    await nights.good(90);

    // The disk is full: the output is larger than what may be written.
    nights.names.push(...Array.from({ length: 10 }, (_, at) => `good${100 + at}@sluice.test`));
    await nights.bad(6, { verdict: 'retry', reason: 'output_failed', paid: 100 }, { mostKib: 120 });
    await nights.good(100);

    // The key was replaced, and the scheduler still has the old one.
    nights.names.push(...Array.from({ length: 10 }, (_, at) => `good${200 + at}@sluice.test`));
    await nights.setAccount({ key: 'the-second-key-of-the-account' });
    await nights.bad(4, { verdict: 'person', reason: 'unauthorized', paid: 100 });
    nights.key = 'the-second-key-of-the-account';
    await nights.good(110);

    // Two at once: the second waits for the first, and has nothing to pay.
    nights.names.push(...Array.from({ length: 10 }, (_, at) => `good${300 + at}@sluice.test`));
    const release = nights.hold();
    const one = await nights.start();
    await nights.untilPaid(120);
    const other = await nights.start();
    release();
    for (const night of [one, other]) {
      expect(await night.ended).toMatchObject({ code: 0, verdict: 'done' });
    }
    await nights.expectGood(120);
  });

  it('goes on by itself when the list has changed after a night that stopped', async () => {
    const nights = await Nights.begin(starter);
    nights.add(30);
    await nights.leaveCredits(20);
    await nights.bad(5, { verdict: 'person', reason: 'payment_required', paid: 20 });
    await nights.setAccount({ emailCredits: 1_000_000 });
    // Two have left the list, three are new.
    nights.names.splice(3, 2);
    nights.names.push('good50@sluice.test', 'good51@sluice.test', 'good52@sluice.test');
    const { code, verdict, printed } = await (await nights.start()).ended;
    expect({ code, verdict }, `${printed}\n${await nights.read('sluice.log')}`).toEqual({
      code: 0,
      verdict: 'done',
    });
    await nights.expectGood(33);
  });

  it.each<[number, number, Verdict]>([
    [0, 0, 'done'],
    [1, 1, 'retry'],
    [2, 2, 'person'],
    [4, 4, 'person'],
    [5, 5, 'person'],
    [6, 6, 'retry'],
    [7, 7, 'retry'],
    [8, 8, 'person'],
    [75, 75, 'retry'],
    [130, 130, 'retry'],
    [143, 143, 'retry'],
  ])('shows what it is that a run ends with %i', async (ending, code, verdict) => {
    const folder = await withFolder();
    await putCommand(folder, `exit ${ending}`);
    const night = await starter.start(folder, { env: {} });
    expect(await night.ended).toMatchObject({ code, verdict });
  });

  it('takes an output with rows that failed for an output, after it tried them again', async () => {
    const folder = await withFolder();
    await putCommand(folder, 'echo "$@" >> "$HOME/calls"; exit 3');
    const night = await starter.start(folder, { env: { HOME: folder } });
    expect(await night.ended).toMatchObject({ verdict: 'done' });
    const calls = (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n');
    expect(calls.every((call) => call.startsWith('verify contacts.csv '))).toBe(true);
    // A unit of systemd has no second command for it: its next night sends them again.
    expect(calls.filter((call) => call.includes('--retry-failed'))).toHaveLength(
      starter.name.endsWith('.service') ? 0 : 1,
    );
  });
});

it('hands a pod that is stopped on to the run, which writes down what is paid', async () => {
  const kubernetes = starters.find(({ name }) => name === 'cronjob.yaml') as Starter;
  const nights = await Nights.begin(kubernetes);
  nights.add(10);
  const letGo = nights.hold();
  const night = await nights.start();
  await nights.untilPaid(10);
  night.stop();
  expect(await night.ended).toMatchObject({ code: 143, verdict: 'retry' });
  letGo();
  expect(await nights.summary()).toMatchObject({ exit_code: 143, reason: 'terminated' });
  await nights.good(10);
});
