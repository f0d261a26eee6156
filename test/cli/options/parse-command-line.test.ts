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
    { name: 'quiet', help: '' },
  ],
  examples: [],
  run: async () => 0,
};

const parse = (...args: string[]): ReturnType<typeof parseCommandLine> =>
  parseCommandLine(command, args, calledHere);

describe('parseCommandLine', () => {
  it('takes values behind a space, an equals sign, or a short name', () => {
    for (const args of [['--output', 'x'], ['--output=x'], ['-o', 'x'], ['-ox']]) {
      expect(parse(...args).options.text('output')).toBe('x');
    }
  });

  it('takes what looks like an option only as the value it is meant to be', () => {
    expect(parse('--output=--quiet').options.text('output')).toBe('--quiet');
    expect(parse('--output', '-').options.text('output')).toBe('-');
    expect(parse('--email', '-5').options.texts('email')).toEqual(['-5']);
    for (const next of ['--quiet', '--email=x', '-o', '--help', '-h', '--']) {
      expect(() => parse('--email', next)).toThrow('--email needs a value: --email <column>');
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
    expect(() => parse('--output', 'x', '-o', 'y')).toThrow('-o may be given once only');
  });

  it('takes everything behind -- for arguments', () => {
    expect(parse('--', '--quiet', '-').positionals).toEqual(['--quiet', '-']);
  });

  it.each([
    ['--nope', 'try has no option --nope; sluice try --help lists those it has'],
    ['-x', 'try has no option -x; the short forms are -o, -h; sluice try --help'],
    ['-e', '-e; did you mean --email or --env-file? the short forms are -o, -h; sluice try --help'],
    ['-output', '-output is not an option; did you mean --output?'],
    ['-email=x', '-email is not an option; did you mean --email?'],
    ['--__proto__', 'try has no option --__proto__'],
    ['--no-quiet', 'try has no option --no-quiet'],
    ['--quiet=yes', '--quiet takes no value'],
    ['--output', '--output needs a value: --output <path>'],
  ])('refuses %s', (arg, trouble) => {
    expect(() => parse(arg)).toThrow(trouble);
  });
});
