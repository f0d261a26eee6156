import { it } from 'vitest';
import type { Command, OptionDefinition } from '../../../src/cli/command.js';
import { commands } from '../../../src/cli/commands.js';
import { groupOfShared } from '../../../src/cli/help/help.js';
import { commonOptions } from '../../../src/cli/options/parse-command-line.js';
import { expectPage } from './expect-page.js';

it('docs/reference/commands.md lists every option of every command', async () => {
  const all = commands.flatMap((command) => [command, ...(command.subcommands ?? [])]);
  await expectPage('docs/reference/commands.md', [
    '# Every command and option',
    '',
    'Made by `npm run pages` from the definitions that `sluice <command> --help` shows. [The command line](../command-line.md) has an example of each command.',
    '',
    ...all.flatMap(section),
  ]);
});

function section(command: Command): readonly string[] {
  const { name, usage, summary, options, examples, subcommands } = command;
  const group = groupOfShared(options);
  const shown: readonly OptionDefinition[] = [
    ...options,
    ...commonOptions.map((option) => ({ ...option, ...(group !== undefined && { group }) })),
  ];
  return [
    `## sluice ${name}`,
    '',
    cell(summary),
    '',
    '```text',
    `sluice ${name} ${usage}`,
    '```',
    '',
    ...(subcommands
      ? [
          ...subcommands.map(
            (one) => `- [\`sluice ${one.name}\`](#${anchor(one.name)}): ${cell(one.summary)}`,
          ),
          '',
        ]
      : []),
    ...[...new Set(shown.map(({ group }) => group))].flatMap((group) => [
      ...(group === undefined ? [] : [`### ${group}`, '']),
      '| option | meaning |',
      '| --- | --- |',
      ...shown
        .filter((option) => option.group === group)
        .map((option) => `| ${signature(option)} | ${cell(option.help)}${several(option)} |`),
      '',
    ]),
    'Examples:',
    '',
    // Of a console: what has to be there for them to run is notified on the other pages.
    '```console',
    ...examples.map((example) => `$ ${example}`),
    '```',
    '',
  ];
}

function signature({ name, short, type }: OptionDefinition): string {
  const long = type ? `--${name} ${type.shown}` : `--${name}`;
  const names = short === undefined ? long : `-${short}, ${long}`;
  return `\`${names.replaceAll('|', String.raw`\|`)}\``;
}

function several({ isRepeatable }: OptionDefinition): string {
  return isRepeatable ? ' May be given several times.' : '';
}

/** In a table a bar, and in Markdown an angle bracket, would be taken for something else. */
function cell(text: string): string {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', String.raw`\<`)
    .replaceAll('*', String.raw`\*`);
}

function anchor(name: string): string {
  return `sluice-${name.replaceAll(' ', '-')}`;
}
