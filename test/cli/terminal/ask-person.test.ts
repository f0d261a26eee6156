import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { message } from '../../../src/cli/messages/catalogue.js';
import { agrees, ask, type Person } from '../../../src/cli/terminal/ask-person.js';
import { Reporter } from '../../../src/cli/terminal/reporter.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { readAll } from '../harness/read-all.js';

it('asks again below a message that comes while the question is open', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const reporter = new Reporter(output, {
    isVerbose: false,
    isTerminal: true,
    mode: 'live',
    clock: new TestClock(),
  });
  const person = { input, output, withoutLive: reporter.withoutLive } as unknown as Person;
  const answer = ask('Start? [y/N]', person, new AbortController().signal);
  reporter.report([message('not_started', { is_declined: true })]);
  input.write('y\r');
  expect(await answer).toBe('y');
  reporter.report([message('more_differences', {})]);
  // oxlint-disable-next-line no-control-regex
  const seen = readAll(output).replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '');
  expect(seen).toMatch(/^Start\? \[y\/N\] \n[^\n]+\n[^\n]*\nStart\? \[y\/N\] y/);
  expect(seen.match(/Start\?/g)).toHaveLength(2);
});

it('wraps a question at the width of the terminal, between words', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 40 });
  const person = { input, output } as unknown as Person;
  const answer = ask(
    `Drop ${'what was paid '.repeat(8)}? [y/N]`,
    person,
    new AbortController().signal,
  );
  input.write('n\r');
  expect(await answer).toBe('n');
  // oxlint-disable-next-line no-control-regex
  const seen = readAll(output).replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '');
  const lines = seen.split(/\r?\n/);
  expect(lines.filter((line) => /was|paid/.test(line)).length).toBeGreaterThan(2);
  expect(lines.filter(({ length }) => length > 40)).toEqual([]);
});

it('shows what would steer the terminal in a question', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const person = { input, output } as unknown as Person;
  const answer = ask('Drop a\u202egnp?', person, new AbortController().signal);
  input.write('n\r');
  expect(await answer).toBe('n');
  expect(readAll(output)).toContain('Drop a\\u202egnp?');
});

it('leaves the line of a question that a signal ends', async () => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const stop = new AbortController();
  const asked = ask('Start?', { input, output } as unknown as Person, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(asked).rejects.toThrow('stopped');
  expect(readAll(output)).toMatch(/Start\? .*\n$/s);
});

it.each([
  ['\r', true],
  ['n\r', false],
  ['yesterday\r', false],
])('asks a question of yes or no again after what is neither, then takes %j', async (last, is) => {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const person = { input, output } as unknown as Person;
  let seen = '';
  output.on('data', (chunk: Buffer) => {
    const asked = seen.split('Type').length;
    seen += chunk.toString();
    if (seen.split('Type').length > asked) input.write(last);
  });
  const answer = agrees('Resume it?', person, new AbortController().signal, true);
  input.write('US\r');
  expect(await answer).toBe(is);
});
