import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.js';
import { completedCommands } from '../../../src/cli/help/completion.js';
import { runInProcess } from '../harness/run-in-process.js';
import { bash, expectOffers } from './offered-by-shells.js';

describe('completion', () => {
  it('offers what bash itself asks for: commands, options, words', () => expectOffers(bash));
});

describe('what shells are notified', () => {
  it('has every command of one word and of two', () => {
    const names = completedCommands(commands).map(({ name }) => name);
    expect(names).toContain('batch launch');
    expect(new Set(names).size).toBe(names.length);
    for (const { name } of commands) expect(names).toContain(name);
  });

  it('refuses other shells', async () => {
    expect(await runInProcess(['completion', 'zhs'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/zsh/) as string,
    });
  });
});
