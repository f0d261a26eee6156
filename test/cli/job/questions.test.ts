import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ParsedOptions } from '../../../src/cli/command.js';
import { confirmDiscard, leftMessages, preflightOf } from '../../../src/cli/job/questions.js';
import { sentencesOf, type Message } from '../../../src/cli/messages/catalogue.js';
import type { RunStatus } from '../../../src/index.js';
import { agrees, terminal } from '../../../src/cli/terminal/ask-person.js';
import { Reporter } from '../../../src/cli/terminal/reporter.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { personAtTerminal } from '../harness/at-terminal.js';

/** Of a run that was paid for. */
const status = {
  startedAt: '2026-11-22T03:15:00.000Z',
  service: 'https://service.example',
  isFinished: true,
  launchedCredits: { email: 10, phone: 0 },
  doubtfulCredits: { email: 0, phone: 0 },
  retry: { exports: 0, addresses: 0, paidTwice: 0 },
} as unknown as RunStatus;

async function abandon(
  answer: string,
  given: Partial<Parameters<typeof confirmDiscard>[2]> = {},
): Promise<{ readonly received: string; readonly warned: readonly Message[] }> {
  const person = personAtTerminal(answer);
  const warned: Message[] = [];
  await confirmDiscard('sluice abandon', status, {
    isAgreed: false,
    forgets: true,
    person,
    warn: (loss) => warned.push(loss),
    signal: new AbortController().signal,
    ...given,
  });
  return { received: person.received(), warned };
}

it('asks before the record of a finished run is dropped, which the same command would pay for again', async () => {
  expect((await abandon('y')).received).toContain('[y/N]');
  await expect(abandon('n')).rejects.toMatchObject({ code: 'declined' });
});

it('needs --yes where nobody is at a terminal, and says what is lost all the same', async () => {
  const nobody = { ...personAtTerminal(''), mayBeAsked: false };
  await expect(abandon('', { person: nobody })).rejects.toThrow('--yes');
  const { warned } = await abandon('', { person: nobody, isAgreed: true });
  expect(warned).toMatchObject([{ event: 'dropped', fields: { is_finished: true } }]);
});

it('says nothing of a finished run whose record nothing depends on', async () => {
  expect(await abandon('n', { forgets: false })).toEqual({ received: '', warned: [] });
});

it('names what a dropped run leaves on the service in the order of the list, and a person the first few', () => {
  const names = Array.from(
    { length: 12 },
    (_, at) => `sluice-run-${String(at + 1).padStart(6, '0')}-1`,
  );
  const all = leftMessages(names.slice(0, 3).toReversed(), names.toReversed(), []);
  expect(all).toMatchObject([
    { event: 'uploads_left', fields: { names: names.slice(0, 3) } },
    { event: 'paid_uploads_kept', fields: { names } },
  ]);
  const [left, kept] = all.map((each) => sentencesOf(each).join());
  expect(left).toMatch(/-000003-1$/);
  expect(kept).toMatch(/-000003-1\D+9\b/);
});

const preflight = {
  email: { batches: 2, addresses: 30, counts: { valid: 28, wrong: 1, duplicate: 1 }, credits: 28 },
  phone: null,
  balance: { email_credit: 20, phone_credit: 0 },
};

async function askBeforeLaunch(answer: string): Promise<{
  readonly mayLaunch: unknown;
  readonly asked: string;
  readonly reported: readonly Message[];
}> {
  const options = new ParsedOptions(new Map([['preflight', [true] as const]]));
  const reported: Message[] = [];
  const person = personAtTerminal(answer);
  const { onPrepared } = preflightOf(options, {
    person,
    reporter: { report: (messages: readonly Message[]) => reported.push(...messages) } as never,
    signal: new AbortController().signal,
  });
  const mayLaunch = await onPrepared?.(preflight);
  return { mayLaunch, asked: person.received(), reported };
}

it.each([
  ['y', true],
  ['Yes', true],
  ['n', false],
  ['', false],
])('takes %j before a launch for %s', async (answer, mayLaunch) => {
  const { mayLaunch: isLaunched, asked, reported } = await askBeforeLaunch(answer);
  expect(isLaunched).toBe(mayLaunch);
  expect(reported).toMatchObject([{ event: 'prepared', severity: 'notice', fields: preflight }]);
  expect(asked).toContain('[y/N]');
});

it('has the terminal to itself while it asks, which redrawn lines would overwrite', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { output, received } = personAtTerminal('');
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const clock = new TestClock();
  const options = { isQuiet: false, isVerbose: false, mode: 'live', clock } as const;
  const reporter = new Reporter(output, options);
  const person = terminal(
    {
      stdin: () => keyboard as unknown as NodeJS.ReadStream,
      stderr: output,
      options: new ParsedOptions(new Map()),
    },
    reporter,
  );
  reporter.progress({ stage: 'reading', rows: 0, addresses: 0 });
  await vi.advanceTimersByTimeAsync(1000);
  const drawn = (): number => received().split('progress').length;
  const answered = agrees('Launch them?', person, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(100);
  const before = drawn();
  expect(before).toBeGreaterThan(1);
  reporter.progress({ stage: 'reading', rows: 10, addresses: 10 });
  await vi.advanceTimersByTimeAsync(5000);
  expect(drawn()).toBe(before);
  keyboard.write('y\n');
  expect(await answered).toBe(true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(drawn()).toBeGreaterThan(before);
  reporter.close();
});
