import { parseArgs } from 'node:util';
import { ConfigurationError } from '../../index.js';
import { guess } from '../../platform/text/closest-name.js';
import {
  type Called,
  type Command,
  type CommandInput,
  type OptionDefinition,
  ParsedOptions,
  programName,
  type ValueWithMore,
} from '../command.js';
import { envFileOption, jsonLogOption } from './config-file.js';
import { localPath, placed } from './option-types.js';

export const commonOptions: readonly OptionDefinition[] = [
  envFileOption,
  jsonLogOption,
  { name: 'help', short: 'h', isCommon: true, help: 'Show this help.' },
  { name: 'help-all', isCommon: true, help: 'Show this help with every option.' },
];

/** Paths in options are resolved from the folder of the command line; arguments stay as written. */
export function parseCommandLine(
  command: Command,
  given: readonly string[],
  called: Called,
): Pick<CommandInput, 'positionals' | 'options' | 'valuesWithMore'> {
  const definitions = [...command.options, ...commonOptions];
  const args = withBareOptions(given, definitions);
  const { tokens, positionals } = tokenize(definitions, args);
  const values = new Map<string, (string | true)[]>();
  const valuesWithMore: (ValueWithMore & { readonly words: string[] })[] = [];
  let words: string[] | undefined;
  for (const token of tokens) {
    if (token.kind === 'positional') words?.push(token.value);
    else words = undefined;
    if (token.kind !== 'option') continue;
    const definition = definitions.find(({ name }) => name === token.name);
    refuseOneDash(args[token.index] ?? '', definitions);
    if (!definition) throw unknownOption(command, token, definitions, called);
    const known = values.get(definition.name) ?? [];
    if (isNextOption(token, definitions)) throw valueMissing(definition, token.rawName);
    const value = valueOf(definition, token.rawName, token.value);
    known.push(placed(value, definition, called.cwd));
    if (value !== true || definition.mayBeBare === true) {
      words = value === true ? [] : [value];
      valuesWithMore.push({ option: token.rawName, words, isBare: value === true });
    }
    values.set(definition.name, known);
    if (known.length > 1 && definition.isRepeatable !== true && definition.type) {
      throw new ConfigurationError(`${token.rawName} may be given once only`, {
        option: token.rawName,
      });
    }
  }
  return { positionals, options: new ParsedOptions(values), valuesWithMore };
}

/** What other programs call options of `verify`. */
const othersNames = [
  {
    named: /^(?:de-?dup[\w-]*|no-dup\w*|distinct)$/,
    meant:
      '--unique? It writes the first row of each address; a duplicate is paid for once in any case',
  },
  {
    named: /^(?:exclude|block-?list|black-?list|unsub\w*|dnc|do-not-\w+)/,
    meant: '--suppress <list>, for addresses and domains that are never sent?',
  },
  { named: /^(?:keep-|only-)?valid(?:-only)?$/, meant: '--keep valid?' },
];

function unknownOption(
  { name: command }: Command,
  { name, rawName }: OptionToken,
  definitions: readonly OptionDefinition[],
  called: Called,
): ConfigurationError {
  const names = definitions.map((definition) => definition.name);
  const other =
    command === 'verify' ? othersNames.find(({ named }) => named.test(name)) : undefined;
  if (other) {
    throw new ConfigurationError(`verify has no option ${rawName}; did you mean ${other.meant}`, {
      option: rawName,
    });
  }
  const hint = rawName.startsWith('--') ? guess(name, names, '--') : shortForms(name, definitions);
  return new ConfigurationError(
    `${command} has no option ${rawName}${hint} (${programName(called)} ${command} --help lists those it has)`,
    { option: rawName },
  );
}

/** The existing short forms, and the options that begin with the letter. */
function shortForms(letter: string, definitions: readonly OptionDefinition[]): string {
  const forms = definitions.flatMap(({ short }) => (short === undefined ? [] : [`-${short}`]));
  const meant = definitions
    .filter(({ name }) => name.startsWith(letter.toLowerCase()))
    .map(({ name }) => `--${name}`);
  const named = [meant.slice(0, -1).join(', '), ...meant.slice(-1)].filter((part) => part !== '');
  const guessed = meant.length === 0 ? '' : `; did you mean ${named.join(' or ')}?`;
  return `${guessed}${guessed === '' ? ';' : ''} the short forms are ${forms.join(', ')}`;
}

/** An option with an optional value takes only a position or a named column: the next argument may be the input. */
function withBareOptions(
  args: readonly string[],
  definitions: readonly OptionDefinition[],
): readonly string[] {
  const columns = new Set(
    args.flatMap((argument, at) => {
      const [, value] = /^--(?:email|phone)=(.*)$/s.exec(argument) ?? [];
      const isNamed = ['--email', '--phone', '-e', '-p'].includes(args[at - 1] ?? '');
      return value ?? (isNamed ? argument : []);
    }),
  );
  return args.map((argument, at) => {
    const isBare =
      definitions.some((each) => each.mayBeBare === true && argument === `--${each.name}`) &&
      !columns.has(args[at + 1] ?? '') &&
      !/^#\d+$/.test(args[at + 1] ?? '');
    return isBare ? `${argument}=` : argument;
  });
}

/** `-output` would be `-o` with the value `utput`. */
function refuseOneDash(argument: string, definitions: readonly OptionDefinition[]): void {
  const [, name] = /^-([a-z][a-z-]+)(?:=|$)/.exec(argument) ?? [];
  if (!definitions.some((definition) => definition.name === name)) return;
  throw new ConfigurationError(`-${name ?? ''} is not an option; did you mean --${name ?? ''}?`, {
    option: `-${name ?? ''}`,
  });
}

function tokenize(
  definitions: readonly OptionDefinition[],
  args: readonly string[],
): { readonly positionals: string[]; readonly tokens: readonly Token[] } {
  const options = Object.fromEntries(
    definitions.map(({ name, short, type }) => [
      name,
      {
        type: type ? ('string' as const) : ('boolean' as const),
        ...(short !== undefined && { short }),
      },
    ]),
  );
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return { tokens, positionals };
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<Token, { readonly kind: 'option' }>;

function valueOf(
  definition: OptionDefinition,
  rawName: string,
  value: string | undefined,
): string | true {
  if (!definition.type) {
    if (value === undefined) return true;
    throw new ConfigurationError(`${rawName} takes no value`, { option: rawName });
  }
  if (value === '' && definition.mayBeBare === true) return true;
  if (value === undefined) throw valueMissing(definition, rawName);
  // Pasted as a text shows it, or without the brackets, in which a shell sees files.
  const { shown } = definition.type;
  const isCountry = shown === '<CC>';
  if ((value === shown && shown.startsWith('<')) || (isCountry && ['CC', 'XX'].includes(value))) {
    throw new ConfigurationError(
      `${rawName} ${value}: put ${isCountry ? "a country's code" : 'a value'} in place of ${value}${isCountry ? ', such as US' : ''}`,
      { option: rawName, fault: 'missing' },
    );
  }
  return value;
}

/** Whether the value was forgotten and the next option taken for it; `--name=value` takes any. */
function isNextOption(
  { value, inlineValue }: OptionToken,
  definitions: readonly OptionDefinition[],
): boolean {
  if (value === undefined || inlineValue) return false;
  return definitions.some(
    ({ name, short }) =>
      value === `--${name}` || value.startsWith(`--${name}=`) || value === `-${short ?? '-'}`,
  );
}

function valueMissing({ type }: OptionDefinition, rawName: string): ConfigurationError {
  return new ConfigurationError(`${rawName} needs a value: ${rawName} ${type?.shown ?? ''}`, {
    option: rawName,
  });
}

export function noArguments(command: string, positionals: readonly string[]): void {
  const [first] = positionals;
  if (first === undefined) return;
  throw new ConfigurationError(`${command} takes no argument ${JSON.stringify(first)}`, {
    fault: 'unsupported',
  });
}

/** @param what the request for the argument: `name one …` */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [argument, ...more] = positionals;
  if (argument !== undefined && argument !== '' && more.length === 0) return argument;
  throw new ConfigurationError(what, { fault: more.length > 0 ? 'repeated' : 'missing' });
}

/** The same where it is a file or a folder. */
export function onlyPath({ positionals, cwd }: CommandInput<never>, what: string): string {
  return localPath(cwd, onlyArgument(positionals, what));
}

/** In either case: services write lower case. */
const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function onlyBatch(input: CommandInput<never>): string {
  const uuid = onlyArgument(
    input.positionals,
    `name one batch by its uuid, as ${programName(input)} batch list shows it`,
  );
  return parseUuid(uuid, input);
}

export function parseUuid(text: string, called: Called): string {
  if (uuidForm.test(text)) return text.toLowerCase();
  throw new ConfigurationError(
    `${JSON.stringify(text)} is not the uuid of a batch; ${programName(called)} batch list shows them`,
    { fault: 'other_format' },
  );
}
