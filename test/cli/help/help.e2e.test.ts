import { describe, expect, it } from 'vitest';
import type { OptionDefinition } from '../../../src/cli/command.js';
import { commands } from '../../../src/cli/commands.js';
import { commandHelp } from '../../../src/cli/help/help.js';
import { helpTopics } from '../../../src/cli/help/help-topics.js';
import { verifyOptions } from '../../../src/cli/options/verify-options.js';
import { version } from '../../../src/index.js';
import { runInProcess } from '../harness/run-in-process.js';
import { runSluice } from '../harness/run-sluice.js';

const options: readonly OptionDefinition[] = verifyOptions;

describe('sluice', () => {
  it('tells its version and its commands', async () => {
    expect(await runSluice(['--version'])).toMatchObject({
      code: 0,
      stdout: Buffer.from(`${version}\n`),
      stderr: '',
    });
    const help = await runInProcess(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout.toString()).toMatch(/^ {2}verify {2,}\S/m);
    expect(help.stdout.toString()).toMatch(/^ {2}serve {2,}\S/m);
  });

  it('lists every option of a command under the heading of its group', async () => {
    const { code, stdout } = await runInProcess(['verify', '--help-all']);
    expect(code).toBe(0);
    const sections = stdout.toString().split('\n\n');
    for (const { name, type, group } of options) {
      const shown = `--${name}${type ? ` ${type.shown}` : ' '}`;
      const section = sections.slice(2).find((text) => text.includes(shown));
      expect(section, shown).toMatch(new RegExp(`^${group}:\n`));
    }
  });

  it('shows the options that most people need first, and how to see the others', async () => {
    const { stdout } = await runInProcess(['verify', '--help']);
    const [, listed = ''] = /\n\n(.*)^Examples:/ms.exec(stdout.toString()) ?? [];
    const shown = [...listed.matchAll(/^ {2,6}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name);
    const common = options.filter(({ isCommon }) => isCommon);
    expect(common.length).toBeLessThanOrEqual(12);
    expect(shown).toEqual([...common.map(({ name }) => name), 'help', 'help-all']);
    expect(stdout.toString()).toContain('sluice verify --help-all ');
  });

  it.each([[['verify']], [['batch', 'upload']], [['credits']]])(
    'shows the same for help %j as with --help',
    async (command) => {
      const asked = await runInProcess(['help', ...command]);
      expect(asked).toMatchObject({ code: 0, stderr: '' });
      expect(asked.stdout).toEqual((await runInProcess([...command, '--help'])).stdout);
    },
  );

  it.each([
    ['exit-codes', /^ +5 +\S.*--max-credits/m],
    ['environment', /^ +SLUICE_API_KEY +\S/m],
    ['columns', /^ +<c>_is_free +email +\S[^]*^ +contains_comma +\S/m],
    ['resume', /^ +--retry-failed +\S[^]*docs\/when-it-stops\.md$/m],
    ['cost', /^ +--dry-run +\S[^]*docs\/cost\.md$/m],
    ['countries', /^ +--country-from <phone column> +\S[^]*docs\/your-list\.md$/m],
  ])('explains %s', async (topic, line) => {
    const { code, stdout, stderr } = await runInProcess(['help', topic]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toMatch(line);
    expect((await runInProcess(['help'])).stdout.toString()).toMatch(
      new RegExp(`sluice help <topic> [^.]*\\b${topic}\\b`),
    );
    const { stderr: guessed } = await runInProcess(['help', topic.slice(0, -1)]);
    expect(guessed).toContain(` ${topic}?`);
  });

  it.each([
    ['suppress', ['suppress']],
    ['keep', ['keep', 'keep-quality']],
    ['--unique', ['unique']],
    ['split', ['split-by', 'split-cells']],
  ])('explains the options of %s', async (word, options) => {
    const { code, stdout } = await runInProcess(['help', word]);
    expect(code).toBe(0);
    const shown = [...String(stdout).matchAll(/^ {2,6}(?:-\w, )?--([\w-]+) /gm)].map(
      ([, name]) => name,
    );
    expect(shown).toEqual(options);
  });

  it('is 80 columns wide where no terminal says more', async () => {
    const pages = [
      ['--help'],
      ...commands.flatMap(({ name, subcommands = [] }) => [
        ['help', name],
        [name, '--help-all'],
        ...subcommands.map((each) => ['help', ...each.name.split(' ')]),
      ]),
      ...helpTopics.map(({ name }) => ['help', name]),
      ['help', 'keep'],
    ];
    for (const page of pages) {
      const { stdout } = await runInProcess(page);
      const tooLong = stdout
        .toString()
        .split('\n')
        .filter(({ length }) => length > 80);
      expect(tooLong, page.join(' ')).toEqual([]);
    }
  });

  it('is as wide as the terminal, where it has room for two columns', () => {
    const verify = commands.find(({ name }) => name === 'verify');
    if (!verify) throw new Error('there is no verify');
    const whole = commandHelp(verify, { isWhole: true });
    const [, options = ''] = commandHelp(verify, { isWhole: true, width: 100 }).split('Input:');
    const [described = ''] = options.split('Examples:');
    expect(Math.max(...described.split('\n').map(({ length }) => length))).toBeLessThan(100);
    const words = (text: string): string => text.replaceAll(/\s+/g, ' ');
    expect(words(whole)).toContain(words(described));
    expect(commandHelp(verify, { isWhole: true, width: 40 })).toBe(whole);
  });

  it('guesses at the command that help is asked for', async () => {
    const { code, stderr } = await runInProcess(['help', 'verfiy']);
    expect(code).toBe(2);
    expect(stderr).toContain(' verify?');
    const money = await runInProcess(['help', 'money']);
    expect(money.stderr).toContain('exit-codes, environment, columns, resume');
    const resume = await runInProcess(['resume']);
    expect(resume.stderr).toContain('sluice help resume');
  });

  it('says how a list is verified that stands in the place of a command', async () => {
    const { code, stderr } = await runInProcess(['package.json', '--email', 'email']);
    expect(code).toBe(2);
    expect(stderr).toContain('sluice verify package.json');
  });

  it('shows its help and ends with 2 when it does not know what is wanted', async () => {
    const nothing = await runInProcess([]);
    expect(nothing).toMatchObject({ code: 2, stdout: Buffer.alloc(0) });
    expect(nothing.stderr).toMatch(/^sluice \d.*\n\nUsage: sluice <command>/);
    const unknown = await runInProcess(['verfiy', 'list.csv']);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain(' verify?');
    expect(unknown.stderr.split('\n')).toHaveLength(2);
  });
});
