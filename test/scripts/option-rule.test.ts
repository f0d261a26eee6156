import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { optionMentions, optionViolations } from '../../scripts/option-rule.mjs';
import { commands } from '../../src/cli/commands.js';
import { optionFlags, withFlags } from '../../src/cli/options/option-flags.js';

let source: string;

beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'sluice-option-rule-'));
});

afterEach(async () => {
  await rm(source, { recursive: true });
});

async function violationsOf(text: string, file = 'runs/kept.ts'): Promise<string[]> {
  const path = join(source, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return optionViolations(source);
}

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

  it('all have a flag of a command, which is in their place there', async () => {
    const mentions = [...(await optionMentions('src'))];
    expect(mentions.filter((name) => !optionFlags.has(name))).toEqual([]);
    expect(mentions).toContain('retryFailed');
    const known = new Set(
      commands.flatMap(({ options }) => options.map(({ name }) => `--${name}`)),
    );
    const flags = [...optionFlags.values()].flatMap((flag) => flag.match(/--[\w-]+/g) ?? []);
    expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
  });

  it('become flags in a text, in JSON and in a page, and leave what is no option alone', () => {
    expect(withFlags("add `retryFailed`, or `onChange: 'carry'`")).toBe(
      'add --retry-failed, or --on-change carry',
    );
    expect(withFlags('<p>`onChange: &#39;carry&#39;`</p>')).toBe('<p>--on-change carry</p>');
    expect(withFlags('`a`b`fresh-water.csv`')).toBe('`a`b`fresh-water.csv`');
    expect(
      withFlags('`settings.remove_wrong_email_format`, `settings.remove_wrong_phone_format`'),
    ).toBe('--no-remove-wrong-format');
  });
});
