// `npm run commands` writes docs/reference/commands.md anew, from the definitions that `--help` is made from.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatText } from './format-text.mjs';
import { projectRoot } from './project.mjs';
import { compileForNode } from './run-compiled.mjs';

/** Where the page is. */
export const referencePath = join(projectRoot, 'docs', 'reference', 'commands.md');

/**
 * The page that lists every option of every command, formatted as the project's pages are.
 *
 * @param commands as src/cli/commands.ts gives them
 * @param commonOptions those that every command has
 * @param groupOfShared the heading of these, as src/cli/help/help.ts gives it
 */
export async function commandReference(commands, commonOptions, groupOfShared) {
  const all = commands.flatMap((command) => [command, ...(command.subcommands ?? [])]);
  const page = [
    '# Every command and option',
    '',
    'Made by `npm run commands` from the definitions that `sluice <command> --help` shows. [The command line](../command-line.md) has an example of each command.',
    '',
    ...all.flatMap((command) => section(command, commonOptions, groupOfShared)),
  ].join('\n');
  return formatText(referencePath, page);
}

function section(command, commonOptions, groupOfShared) {
  const { name, usage, summary, options, examples, subcommands } = command;
  const group = groupOfShared(options);
  const shown = [...options, ...commonOptions.map((option) => ({ ...option, group }))];
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
    // Of a console: what has to be there for them to run is told on the other pages.
    '```console',
    ...examples.map((example) => `$ ${example}`),
    '```',
    '',
  ];
}

function signature({ name, short, type }) {
  const long = type ? `--${name} ${type.shown}` : `--${name}`;
  const names = short === undefined ? long : `-${short}, ${long}`;
  return `\`${names.replaceAll('|', '\\|')}\``;
}

function several({ isRepeatable }) {
  return isRepeatable ? ' May be given several times.' : '';
}

/** In a table a bar, and in Markdown an angle bracket, would be taken for something else. */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('*', '\\*');
}

function anchor(name) {
  return `sluice-${name.replaceAll(' ', '-')}`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = join(compileForNode('commands', ['src']), 'src', 'cli');
  const built = (file) => import(pathToFileURL(join(folder, file)).href);
  const { commands } = await built('commands.js');
  const { commonOptions } = await built('options/parse-command-line.js');
  const { groupOfShared } = await built('help/help.js');
  const page = await commandReference(commands, commonOptions, groupOfShared);
  const isCurrent = page === (await readFile(referencePath, 'utf8').catch(() => ''));
  if (!isCurrent) await writeFile(referencePath, page);
}
