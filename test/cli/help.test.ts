import { describe, expect, it } from 'vitest';
import { verifyOptions } from '../../src/cli/verify-options.js';
import { version } from '../../src/index.js';
import { runInProcess } from './run-in-process.js';
import { runSluice } from './run-sluice.js';

describe('sluice', () => {
  it('tells its version and its commands', async () => {
    expect(await runSluice(['--version'])).toMatchObject({
      code: 0,
      stdout: Buffer.from(`${version}\n`),
      stderr: '',
    });
    const help = await runInProcess(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout.toString()).toMatch(/^ {2}verify {2,}Verify the addresses/m);
    expect(help.stdout.toString()).toMatch(/^ {2}serve {2,}Start the local service/m);
  });

  it('lists every option of a command under the heading of its group', async () => {
    const { code, stdout } = await runInProcess(['verify', '--help-all']);
    expect(code).toBe(0);
    const sections = stdout.toString().split('\n\n');
    for (const { name, value, group } of verifyOptions) {
      const shown = `--${name}${value === undefined ? ' ' : ` ${value}`}`;
      const section = sections.slice(2).find((text) => text.includes(shown));
      expect(section, shown).toMatch(new RegExp(`^${group}:\n`));
    }
  });

  it('shows the options that most people need first, and how to see the others', async () => {
    const { stdout } = await runInProcess(['verify', '--help']);
    const shown = [...stdout.toString().matchAll(/^ +(?:-\w, )?--([\w-]+)/gm)].map(
      ([, name]) => name,
    );
    const common = verifyOptions.filter(({ isCommon }) => isCommon);
    expect(common.length).toBeLessThanOrEqual(12);
    expect(shown).toEqual([...common.map(({ name }) => name), 'help', 'help-all']);
    expect(stdout.toString()).toContain(
      `sluice verify --help-all shows all ${verifyOptions.length} options.`,
    );
  });

  it.each([[['verify']], [['batch', 'upload']], [['credits']]])(
    'shows the same for help %j as with --help',
    async (command) => {
      const asked = await runInProcess(['help', ...command]);
      expect(asked).toMatchObject({ code: 0, stderr: '' });
      expect(asked.stdout).toEqual((await runInProcess([...command, '--help'])).stdout);
    },
  );

  it('guesses at the command that help is asked for', async () => {
    const { code, stderr } = await runInProcess(['help', 'verfiy']);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no command verfiy; did you mean verify?');
  });

  it('shows its help and ends with 2 when it does not know what is wanted', async () => {
    const nothing = await runInProcess([]);
    expect(nothing).toMatchObject({ code: 2, stdout: Buffer.alloc(0) });
    expect(nothing.stderr).toMatch(/^sluice \d.*\n\nUsage: sluice <command>/);
    const unknown = await runInProcess(['verfiy', 'list.csv']);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('sluice: there is no command verfiy; did you mean verify?\n');
    expect(unknown.stderr).toContain('Usage: sluice <command>');
  });
});
