import { ConfigurationError } from '../../index.js';
import { type CommandInput, programName, type Called } from '../command.js';
import { resolvePath } from '../endpoints/paths.js';

export function noArguments(command: string, positionals: readonly string[]): void {
  const [first] = positionals;
  if (first === undefined) return;
  throw new ConfigurationError(`${command} takes no argument ${JSON.stringify(first)}`);
}

/** @param what how the argument is asked for: `name one …` */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [argument, ...more] = positionals;
  if (argument !== undefined && argument !== '' && more.length === 0) return argument;
  throw new ConfigurationError(what);
}

/** The same where it is a file or a folder. */
export function onlyPath(
  { positionals, cwd }: Pick<CommandInput, 'positionals' | 'cwd'>,
  what: string,
): string {
  return resolvePath(cwd, onlyArgument(positionals, what));
}

/** Whatever case it is written in: services write lower case. */
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The uuid of the one batch that is meant. */
export function onlyBatch(input: Called & Pick<CommandInput, 'positionals'>): string {
  const uuid = onlyArgument(
    input.positionals,
    `name one batch by its uuid, as ${programName(input)} batch list shows it`,
  );
  return parseUuid(uuid, input);
}

export function parseUuid(text: string, called: Called): string {
  if (uuidForm.test(text)) return text.toLowerCase();
  throw new ConfigurationError(
    `${JSON.stringify(text)} is no uuid of a batch; ${programName(called)} batch list shows them`,
  );
}
