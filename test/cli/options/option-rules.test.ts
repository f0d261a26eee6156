import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { ParsedOptions } from '../../../src/cli/command.js';
import { checkRules } from '../../../src/cli/options/option-rules.js';
import { verifyOptions } from '../../../src/cli/options/verify-options.js';

function check(names: readonly string[], known: Parameters<typeof checkRules>[2] = {}): () => void {
  const options = new ParsedOptions(new Map(names.map((name) => [name, [true] as const])));
  return () => checkRules(options, verifyOptions, known);
}

describe('what options need and refuse', () => {
  it.each([
    [['fresh', 'retry-failed'], '--fresh drops the run that --retry-failed continues'],
    [['max-age'], '--max-age is for results of a history: name it with --history'],
    [['rejects'], '--rejects is for the rows that --keep, --keep-quality or --unique leaves out'],
    [['keep-quality'], '--keep-quality is for emails: name their column with --email'],
    [['keep', 'rejects', 'part-size'], '--rejects does not go with an output in parts'],
    [['store', 'run', 'fresh'], '--fresh does not work with --store: another name'],
    [['store', 'run', 'wait-lock'], '--wait-lock does not work with --store: processes share'],
    [['run'], '--run goes with --store <url>, where processes share a run'],
    [['workers'], '--workers goes with --store <url>'],
    [['verify'], '--verify needs --local'],
  ])('refuses %j', (names, said) => {
    expect(check(names)).toThrow(said);
  });

  it.each([
    [['sheet'], { 'input is a database': true }, '--sheet is for files, and the input is a'],
    [['query'], { 'input is a database': false }, '--query is for databases, and no input is one'],
    [['part-size'], { 'output is a database': true }, '--part-size is for files, and the output'],
    [['key'], { 'output is a database': false }, '--key is for databases, and no output is one'],
    [['partial'], { 'kept in a state directory': false }, '--partial needs a state directory'],
    [['local', 'helo'], { 'network verification': false }, '--helo needs --verify network'],
  ])('refuses %j once it is known that %j, and not before', (names, known, said) => {
    expect(check(names, known)).toThrow(said);
    expect(check(names)).not.toThrow();
  });

  it('lets through what has what it needs', () => {
    expect(check(['keep', 'rejects'])).not.toThrow();
    expect(check(['query'], { 'input is a database': true })).not.toThrow();
    expect(check(['history', 'max-age'])).not.toThrow();
  });

  it('name options that there are, or what a command finds out', () => {
    const situations = [
      'input is a database',
      'output is a database',
      'kept in a state directory',
      'network verification',
    ];
    for (const { name, options } of commands.flatMap((each) => [each, ...(each.subcommands ?? [])]))
      for (const { rules = [] } of options)
        for (const each of rules.flatMap(({ anyOf }) => anyOf)) {
          const isKnown =
            situations.includes(each) || options.some((option) => option.name === each);
          expect(isKnown, `${name}: ${each}`).toBe(true);
        }
  });
});
