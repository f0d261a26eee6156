import { describe, expect, it } from 'vitest';
import { optionMentions, optionViolations } from '../../scripts/rules/option-rule.mjs';
import { commands, flagNaming } from '../../src/cli/commands.js';
import { violationsIn } from './violations-in.js';

const violationsOf = (text: string, file = 'runs/kept.ts'): Promise<string[]> =>
  violationsIn(optionViolations, { [file]: text });

describe('the names of options in texts of the library', () => {
  it.each([
    ['a text', "throw new Error('start over with --fresh');"],
    ['a template', 'throw new Error(`${path} is damaged: add --fresh`);'],
    ['a template whose name is filled in', 'throw new Error(`--${name} is missing`);'],
    ['a page', 'const page = html`<p>add (--retry-failed)</p>`;'],
  ])('are refused as flags in %s', async (_what, text) => {
    expect(await violationsOf(text)).toEqual([
      expect.stringMatching(/^src.runs.kept\.ts:1: has a flag/),
    ]);
  });

  it('are flags in the command line, and in comments', async () => {
    expect(await violationsOf("throw new Error('add --fresh');", 'cli/stop.ts')).toEqual([]);
    expect(await violationsOf('/** As `--fresh` does. */')).toEqual([]);
    expect(await violationsOf("const query = '-- a comment of SQL';")).toEqual([]);
  });

  it('are refused in backticks, which the command line would have to search for', async () => {
    expect(await violationsOf("throw new Error('start over with `fresh`');")).toEqual([
      expect.stringMatching(/^src.runs.kept\.ts:1: has an option in backticks/),
    ]);
    expect(await violationsOf('const name = `\\`${quoted}\\``;')).toEqual([]);
  });

  it('all have a flag of a command', async () => {
    const mentions = [...(await optionMentions('src'))];
    const flagOf = flagNaming(commands);
    expect(mentions.filter((name) => flagOf(name) === undefined)).toEqual([]);
    expect(mentions).toContain('retryFailed');
  });
});
