import { expect, it } from 'vitest';
import { ParsedOptions } from '../../../src/cli/command.js';
import { preflightOf } from '../../../src/cli/options/launch-options.js';
import { personAtTerminal } from '../person-at-terminal.js';

const preflight = {
  email: { batches: 2, addresses: 30, counts: { valid: 28, wrong: 1, duplicate: 1 } },
  phone: null,
  balance: { email_credit: 20, phone_credit: 0 },
};

/** Asks somebody at a terminal who answers with a line. */
async function ask(
  answer: string,
): Promise<{ readonly mayLaunch: unknown; readonly said: string }> {
  const options = new ParsedOptions(new Map([['preflight', [true] as const]]));
  const person = personAtTerminal(answer);
  const { onPrepared } = preflightOf(options, person, {
    reporter: { tell: (said) => said.forEach(({ line }) => person.output.write(`${line}\n`)) },
    signal: new AbortController().signal,
  });
  const mayLaunch = await onPrepared?.(preflight);
  return { mayLaunch, said: person.heard() };
}

it.each([
  ['y', true],
  ['Yes', true],
  ['n', false],
  ['', false],
  ['yesterday', false],
])('takes %j at the terminal for %s', async (answer, mayLaunch) => {
  const asked = await ask(answer);
  expect(asked.mayLaunch).toBe(mayLaunch);
  expect(asked.said).toContain(
    'email: 30 addresses in 2 batches are prepared; the service counted 28 valid, 1 wrong in their format and 1 duplicate',
  );
  expect(asked.said).toContain('30 needed at most, before refunds; the account has 20, 10 too few');
  expect(asked.said).toContain('Launch them? [y/N]');
});
