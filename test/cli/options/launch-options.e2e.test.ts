import { expect, it } from 'vitest';
import { ParsedOptions } from '../../../src/cli/command.js';
import type { Message } from '../../../src/cli/messages/message.js';
import { preflightOf } from '../../../src/cli/options/launch-options.js';
import { personAtTerminal } from '../person-at-terminal.js';

const preflight = {
  email: { batches: 2, addresses: 30, counts: { valid: 28, wrong: 1, duplicate: 1 } },
  phone: null,
  balance: { email_credit: 20, phone_credit: 0 },
};

/** Asks somebody at a terminal who answers with a line. */
async function ask(answer: string): Promise<{
  readonly mayLaunch: unknown;
  readonly asked: string;
  readonly told: readonly Message[];
}> {
  const options = new ParsedOptions(new Map([['preflight', [true] as const]]));
  const told: Message[] = [];
  const person = personAtTerminal(answer);
  const { onPrepared } = preflightOf(options, person, {
    reporter: { report: (messages) => told.push(...messages) },
    signal: new AbortController().signal,
  });
  const mayLaunch = await onPrepared?.(preflight);
  return { mayLaunch, asked: person.heard(), told };
}

it.each([
  ['y', true],
  ['Yes', true],
  ['n', false],
  ['', false],
  ['yesterday', false],
])('takes %j at the terminal for %s', async (answer, mayLaunch) => {
  const { mayLaunch: isLaunched, asked, told } = await ask(answer);
  expect(isLaunched).toBe(mayLaunch);
  expect(told).toMatchObject([{ event: 'prepared', severity: 'notice', fields: preflight }]);
  expect(asked).toContain('[y/N]');
});
