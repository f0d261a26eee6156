import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands, flagNaming } from '../../../src/cli/commands.js';
import { ParsedOptions } from '../../../src/cli/command.js';
import {
  estimateShape,
  runShape,
  streamRunShape,
} from '../../../src/engine/runs/options/option-shapes.js';
import { checkOptions } from '../../../src/platform/check-options.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
import { checkRules } from '../../../src/cli/options/option-types.js';
import { libraryOptions } from '../../../src/cli/options/library-options.js';
import { verifyOptions } from '../../../src/cli/options/verify-options.js';

function check(names: readonly string[], known: Parameters<typeof checkRules>[2] = {}): () => void {
  const options = new ParsedOptions(new Map(names.map((name) => [name, [true] as const])));
  return () => checkRules(options, verifyOptions, known);
}

const refusal = (option: string): unknown =>
  expect.objectContaining({ code: 'invalid_option', option });

let restore: () => void;
beforeAll(() => {
  restore = nameOptionsBy(flagNaming(commands));
});
afterAll(() => restore());

describe('what options need and refuse', () => {
  it.each([
    [['fresh', 'retry-failed'], '--fresh', /--retry-failed/],
    [['max-age'], '--max-age', /--history/],
    [['rejects'], '--rejects', /--keep.*--keep-quality.*--unique/],
    [['keep-quality'], '--keep-quality', /--email/],
    [['keep', 'rejects', 'part-size'], '--rejects', /--part-size/],
    [['store', 'run', 'fresh'], '--fresh', /--store/],
    [['store', 'run', 'wait-lock'], '--wait-lock', /--store/],
    [['run'], '--run', /--store/],
    [['workers'], '--workers', /--store/],
    [['verify'], '--verify', /--local/],
  ])('refuses %j', (names, option, others) => {
    expect(check(names)).toThrow(refusal(option));
    expect(check(names)).toThrow(others);
  });

  it.each([
    [['sheet'], { 'input is a database': true }, '--sheet'],
    [['query'], { 'input is a database': false }, '--query'],
    [['part-size'], { 'output is a database': true }, '--part-size'],
    [['key'], { 'output is a database': false }, '--key'],
    [['partial'], { 'kept in a state directory': false }, '--partial'],
    [['local', 'helo'], { 'network verification': false }, '--helo'],
  ])('refuses %j once it is known that %j, and not before', (names, known, option) => {
    expect(check(names, known)).toThrow(refusal(option));
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

describe('the options of run() that the command line has', () => {
  /** One that is right for each kind of value. */
  const texts = ['7', 'carry', 'email=mail', 'valid'];

  it.each(libraryOptions.map(({ name, library = '' }) => [name, library] as const))(
    '--%s gives what %s takes, and nothing else',
    (name, library) => {
      const found = libraryOptions.find((each) => each.name === name);
      const shape = { [library]: { ...runShape[library as keyof typeof runShape] } };
      if (!found?.type) {
        expect(() => checkOptions({ [library]: true }, shape)).not.toThrow();
        return;
      }
      const values = texts.flatMap((text) => {
        try {
          const options = new ParsedOptions(new Map([[name, [text]]]));
          return [options.libraryValues([found])];
        } catch {
          return [];
        }
      });
      expect(values).not.toEqual([]);
      for (const value of values) expect(() => checkOptions(value, shape)).not.toThrow();
    },
  );

  it.each(['fresh', 'onChange', 'waitLockMs'] as const)(
    'run({ %s, store }) is refused as on the command line',
    (name) => {
      const given = { [name]: name === 'waitLockMs' ? 5 : name === 'onChange' ? 'stop' : true };
      const store = { open: () => undefined, look: () => undefined };
      const shape = { [name]: runShape[name], store: runShape.store };
      expect(() => checkOptions({ ...given, store }, shape)).toThrow(refusal(name));
      expect(() => checkOptions(given, shape)).not.toThrow();
      expect(() => checkOptions({ [name]: undefined, store }, shape)).not.toThrow();
    },
  );

  it('a dry run takes each option of a list', () => {
    const ofLists = libraryOptions.filter(({ library = '' }) => library in streamRunShape);
    const names = ofLists.map(({ library = '' }) => library);
    expect(Object.keys(estimateShape)).toEqual(expect.arrayContaining(names));
  });

  it('what needs another option is refused without it', () => {
    const shape = { openHistory: runShape.openHistory, store: runShape.store };
    expect(() => checkOptions({ openHistory: () => undefined }, shape)).toThrow(
      refusal('openHistory'),
    );
  });
});
