import type { OptionNaming } from '../platform/text/sentence.js';
import { shellQuote } from '../platform/text/printable.js';
import { type Command, libraryNameOf, type OptionDefinition } from './command.js';
import { abandonCommand } from './commands/abandon.js';
import { formatCommand } from './commands/batch-files.js';
import { batchCommand } from './commands/batch.js';
import { conformanceCommand } from './commands/conformance.js';
import { doctorCommand } from './commands/doctor.js';
import { historyCommand } from './commands/history.js';
import { serveCommand } from './commands/serve.js';
import { checkCommand, creditsCommand } from './commands/single-requests.js';
import { loadStatementCommand, storeCommand } from './commands/sql.js';
import { statusCommand } from './commands/status.js';
import { targetsCommand } from './commands/targets.js';
import { verifyCommand } from './commands/verify.js';
import { createCompletionCommand } from './help/completion.js';

export const commands: readonly Command[] = [
  verifyCommand,
  serveCommand,
  statusCommand,
  abandonCommand,
  storeCommand,
  historyCommand,
  loadStatementCommand,
  conformanceCommand,
  doctorCommand,
  creditsCommand,
  batchCommand,
  checkCommand,
  formatCommand,
  targetsCommand,
  createCompletionCommand(() => commands),
];

/** What is set by two variables or an argument, not by an option. */
const notByOption = new Map([
  ['client', 'SLUICE_BASE_URL and SLUICE_API_KEY'],
  ['source', 'the input'],
]);

/** Names options as they are given on the command line: `retryFailed` is --retry-failed. */
export function flagNaming(commands: readonly Command[]): OptionNaming {
  let known: ReadonlyMap<string, OptionDefinition> | undefined;
  return (name, value) => {
    known ??= definitionsByName(commands);
    const definition = known.get(name);
    if (!definition) return notByOption.get(name);
    const flag = `--${definition.name}`;
    if (value === undefined || !definition.type) return flag;
    const pairs =
      typeof value === 'object'
        ? Object.entries(value).map(([key, each]) => `${key}=${each}`)
        : [String(value)];
    return pairs.map((each) => `${flag} ${shellQuote(each)}`).join(' ');
  };
}

function definitionsByName(commands: readonly Command[]): ReadonlyMap<string, OptionDefinition> {
  const all = commands.flatMap((command) => [command, ...(command.subcommands ?? [])]);
  const named = all
    .flatMap(({ options }) => options)
    .flatMap((definition) => {
      const { name, sets, alsoCalled = [] } = definition;
      const libraryNames = [
        libraryNameOf(definition),
        libraryNameOf({ name, help: '' }),
        ...alsoCalled,
      ];
      const names =
        sets === 'settings' ? libraryNames.map((each) => `settings.${each}`) : libraryNames;
      return names.map((each) => [each, definition] as const);
    });
  // Of two with the same name the first counts: the main command's.
  return new Map(named.toReversed());
}
