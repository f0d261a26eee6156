import type { OptionNaming } from '../../platform/text/option-name.js';
import { shellQuote } from '../../platform/text/printable.js';
import { libraryNameOf, type Command, type OptionDefinition } from '../command.js';

/** What no option sets, but two variables and an argument. */
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

/** By all names that the library has for them. */
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
  // Of two with the same name the first counts, which is that of the main command.
  return new Map(named.toReversed());
}
