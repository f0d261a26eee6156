import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/cli/command.js';
import { path, text } from '../../../src/cli/options/option-types.js';
import { parseCommandLine } from '../../../src/cli/options/parse-command-line.js';
import { calledHere } from '../harness/called-here.js';

const command: Command = {
  name: 'try',
  usage: '',
  summary: '',
  options: [
    { name: 'output', short: 'o', type: path('<path>'), help: '' },
    { name: 'email', type: text('<column>'), isRepeatable: true, help: '' },
    { name: 'country', type: text('<CC>'), help: '' },
    { name: 'quiet', help: '' },
  ],
  examples: [],
  run: async () => 0,
};

const refusal = (option: string): unknown =>
  expect.objectContaining({ code: 'invalid_option', option });

const parse = (...args: string[]): ReturnType<typeof parseCommandLine> =>
  parseCommandLine(command, args, calledHere);

describe('parseCommandLine', () => {
  it('takes values behind a space, an equals sign, or a short name', () => {
    for (const args of [['--output', 'x'], ['--output=x'], ['-o', 'x'], ['-ox']]) {
      expect(parse(...args).options.text('output')).toBe('x');
    }
  });

  it('takes no placeholder, which is put in place of a value', () => {
    const missing = expect.objectContaining({ fault: 'missing' }) as unknown;
    for (const args of [
      ['--email', '<column>'],
      ['--country', '<CC>'],
      ['--country=CC'],
      ['--country', 'XX'],
    ]) {
      expect(() => parse(...args), args.join(' ')).toThrow(missing);
    }
    expect(parse('--country', 'US').options.text('country')).toBe('US');
  });

  it('takes what looks like an option only as the value it is meant to be', () => {
    expect(parse('--output=--quiet').options.text('output')).toBe('--quiet');
    expect(parse('--output', '-').options.text('output')).toBe('-');
    expect(parse('--email', '-5').options.texts('email')).toEqual(['-5']);
    for (const next of ['--quiet', '--email=x', '-o', '--help', '-h', '--']) {
      expect(() => parse('--email', next)).toThrow(refusal('--email'));
    }
  });

  it('keeps all values of an option that may be repeated, in order', () => {
    const { options, positionals } = parse('a', '--email', 'x', 'b', '--email=y', '--quiet', '-');
    expect(options.texts('email')).toEqual(['x', 'y']);
    expect(options.has('quiet')).toBe(true);
    expect(options.has('output')).toBe(false);
    expect(positionals).toEqual(['a', 'b', '-']);
  });

  it('takes a switch twice, and a value once', () => {
    expect(parse('--quiet', '--quiet').options.has('quiet')).toBe(true);
    expect(() => parse('--output', 'x', '-o', 'y')).toThrow(refusal('-o'));
  });

  it('takes everything behind -- for arguments', () => {
    expect(parse('--', '--quiet', '-').positionals).toEqual(['--quiet', '-']);
  });

  it.each([
    ['--nope', '--nope', /--nope.*--help/],
    ['-x', '-x', /-x.*-o.*-h.*--help/],
    ['-e', '-e', /-e.*--email.*--env-file.*-o.*-h.*--help/],
    ['-output', '-output', /-output.*--output/],
    ['-email=x', '-email', /-email.*--email/],
    ['--__proto__', '--__proto__', /__proto__/],
    ['--no-quiet', '--no-quiet', /--no-quiet/],
    ['--quiet=yes', '--quiet', /--quiet/],
    ['--output', '--output', /--output.*--output/],
  ])('refuses %s', (arg, option, trouble) => {
    expect(() => parse(arg)).toThrow(refusal(option));
    expect(() => parse(arg)).toThrow(trouble);
  });
});
