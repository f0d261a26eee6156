import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { Clock } from '../index.js';
import type { Message } from './messages/message.js';

/** What an option takes: how it is shown, completed and read. */
export interface OptionType<Value = unknown> {
  /** What stands for the value in help and reference. */
  readonly shown: string;
  /** The words that it takes, where they are few: shells complete them. */
  readonly words?: readonly string[];
  /** Whether it is a file, a folder or the place of a list, found from the folder of the command line. */
  readonly isPath?: boolean;
  /** @throws ConfigurationError that says what the option of that name takes */
  readonly parse: (text: string, name: string) => Value;
}

/** What an option needs beside it, or does not go with: other options, or what a command has found out. */
export interface OptionRule {
  /** At least one of them. */
  readonly anyOf: readonly string[];
  readonly is: 'needed' | 'refused';
  /** What is said where the rule is broken. */
  readonly message: (name: string) => string;
}

export interface OptionDefinition<Name extends string = string> {
  readonly name: Name;
  readonly short?: string;
  /** Absent for a switch, which takes no value. */
  readonly type?: OptionType;
  readonly isRepeatable?: boolean;
  /** Makes one value of those that are given. @default they are a list */
  readonly gather?: (values: readonly unknown[]) => unknown;
  /** Whether its value, a verified column, may be left out. */
  readonly mayBeBare?: boolean;
  readonly help: string;
  /** Whether the short help of a command of many options shows it. */
  readonly isCommon?: boolean;
  /** Heading of the options among which the help shows it. */
  readonly group?: string;
  /** What the library calls it. @default its name in camel case */
  readonly library?: string;
  /** Of what in the library it is an option. @default of the function itself */
  readonly sets?: 'settings';
  /** What else the library calls it. */
  readonly alsoCalled?: readonly string[];
  readonly rules?: readonly OptionRule[];
  /** What of a run it decides, where only the command line has it: compared when the run goes on. */
  readonly decides?: 'rows' | 'output' | 'rows of the output';
}

/** The names of some definitions: what may be asked of the options that were parsed by them. */
export type NameOf<Definitions extends readonly OptionDefinition[]> = Definitions[number]['name'];

/** What an option's value is: `true` for a switch, a list for one that may be given several times. */
type ValueOf<Definition> = Definition extends { readonly type: OptionType<infer Value> }
  ? Definition extends { readonly isRepeatable: true }
    ? readonly Value[]
    : Value
  : true;

/** The values of some options by their names; those that are not given are absent. */
type OptionValues<Definition extends OptionDefinition> = {
  readonly [Each in Definition as Each['name']]?: ValueOf<Each>;
};

/** The same by the names that the library has for them. */
type LibraryValues<Definition extends OptionDefinition> = {
  readonly [Each in Definition as LibraryNameOf<Each>]?: Each['name'] extends `no-${string}`
    ? false
    : ValueOf<Each>;
};

type LibraryNameOf<Each extends OptionDefinition> = Each extends {
  readonly library: infer Name extends string;
}
  ? Name
  : CamelCase<Each['name']>;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

export function libraryNameOf({ name, library }: OptionDefinition): string {
  return library ?? name.replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

/**
 * Definitions whose names and types the compiler keeps: a misspelt option does not compile.
 *
 * @param common what holds for each of them
 */
export function defineOptions<const Definitions extends readonly OptionDefinition[]>(
  definitions: Definitions,
  { rules = [], ...common }: Pick<OptionDefinition, 'group' | 'sets' | 'rules'> = {},
): Definitions {
  const all = definitions.map((each) => ({
    ...each,
    ...common,
    ...(rules.length > 0 && { rules: [...(each.rules ?? []), ...rules] }),
  }));
  return all as unknown as Definitions;
}

/** What paths and variables are found by. */
export interface Environment {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** How the program was called. */
export interface Called extends Environment {
  /** The words of the command line, behind the program that runs and its script. */
  readonly argv: readonly string[];
}

/** Where a command runs: all that it has of its process. */
export interface Surroundings extends Called {
  /** Opened when it is read: most commands have no use for it. */
  readonly stdin: () => NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly clock: Pick<Clock, 'now' | 'wallNow'>;
  /** Where signals arrive that ask for something else than to stop. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Takes what has to be done right before the process ends, after everything else. */
  readonly lastAct: (act: () => Promise<void>) => void;
  /** Called with each message that is logged, whatever form it takes on standard error. */
  readonly onMessage?: (message: Message) => void;
  /** Called when a list is done: most of the code that a command may need is compiled then. */
  readonly keepCode?: () => void;
}

/** Takes what there is to say on standard error. */
export interface MessageLog {
  /** Whether it is a log, for programs. */
  readonly isJson: boolean;
  readonly log: (message: Message) => void;
}

/** The value of an option with the arguments right after it: those may be the rest of a name. */
export interface ValueWithMore {
  readonly option: string;
  readonly words: readonly string[];
  /** Whether it has none: what is right after it may be meant. */
  readonly isBare: boolean;
}

export interface CommandInput<Name extends string = string> extends Surroundings {
  readonly log: MessageLog;
  readonly positionals: readonly string[];
  readonly valuesWithMore?: readonly ValueWithMore[];
  /** The options of the command line alone, without those of a configuration. */
  readonly given: ParsedOptions;
  /** Its own, and those of every command that a configuration may name too. */
  readonly options: ParsedOptions<Name | 'env-file' | 'json-log'>;
}

export interface Command<Name extends string = string> {
  readonly name: string;
  /** The arguments beside the options, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionDefinition<Name>[];
  readonly examples: readonly string[];
  /** Commands of two words that begin with this one's. */
  readonly subcommands?: readonly Command[];
  /** The words that it takes as an argument, where they are few. */
  readonly words?: readonly string[];
  readonly run: (input: CommandInput<Name>) => Promise<number>;
}

export function defineCommand<Name extends string = never>(
  command: Omit<Command<Name>, 'run'> & Pick<Command<NoInfer<Name>>, 'run'>,
): Command {
  return command;
}

/**
 * Values of options by name: the last one given counts, unless all are asked for. Who needs fewer names
 * takes one that has more.
 */
export class ParsedOptions<in Name extends string = string> {
  readonly #values: ReadonlyMap<string, readonly (string | true)[]>;

  constructor(values: ReadonlyMap<string, readonly (string | true)[]>) {
    this.#values = values;
  }

  /** These, and of the others those that are not among them; an empty list is an option not given. */
  over(others: ReadonlyMap<string, readonly (string | true)[]>): ParsedOptions<Name> {
    const given = [...others].filter(([, values]) => values.length > 0);
    return new ParsedOptions(new Map([...given, ...this.#values]));
  }

  /** These, and beside or in place of them the others. */
  with(others: ReadonlyMap<string, readonly (string | true)[]>): ParsedOptions<Name> {
    return new ParsedOptions(new Map([...this.#values, ...others]));
  }

  /** @throws ConfigurationError for a text that an option does not take */
  values<const Definition extends OptionDefinition<Name>>(
    definitions: readonly Definition[],
  ): OptionValues<Definition> {
    const values = this.#read(definitions).map(({ name, value }) => [name, value] as const);
    return Object.fromEntries(values) as OptionValues<Definition>;
  }

  /** The same as options of the library: `--no-header` is a header that is false. */
  libraryValues<const Definition extends OptionDefinition<Name>>(
    definitions: readonly Definition[],
  ): LibraryValues<Definition> {
    const values = this.#read(definitions).map(
      ({ name, value, library }) => [library, name.startsWith('no-') ? false : value] as const,
    );
    return Object.fromEntries(values) as LibraryValues<Definition>;
  }

  #read(
    definitions: readonly OptionDefinition[],
  ): readonly { readonly name: string; readonly library: string; readonly value: unknown }[] {
    return definitions.flatMap((definition) => {
      const { name, type, isRepeatable, gather } = definition;
      const given = this.#values.get(name);
      if (given === undefined) return [];
      const all = given.map((text) => (type && text !== true ? type.parse(text, name) : true));
      const value = isRepeatable === true ? (gather?.(all) ?? all) : all.at(-1);
      return [{ name, library: libraryNameOf(definition), value }];
    });
  }

  /** What was given of those that decide one of these, as texts by name. */
  decisions(
    definitions: readonly OptionDefinition<Name>[],
    ...what: readonly OptionDefinition['decides'][]
  ): Readonly<Record<string, string>> {
    return Object.fromEntries(
      definitions.flatMap(({ name, decides, isRepeatable }) => {
        const given = decides && what.includes(decides) ? this.#values.get(name) : undefined;
        return given ? [[name, isRepeatable ? given.join(' ') : String(given.at(-1))]] : [];
      }),
    );
  }

  given(): readonly (readonly [string, readonly (string | true)[]])[] {
    return [...this.#values];
  }

  has(name: Name): boolean {
    return this.#values.has(name);
  }

  text(name: Name): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: Name): readonly string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === 'string');
  }
}

/**
 * What a person types to run this program again, from where it was started: every printed command begins
 * with it. A project's own copy is no command of the shell; `npx` finds it.
 */
export function programName({ argv, env, cwd }: Called): string {
  const [, script = ''] = argv;
  const folder = dirname(resolve(cwd, script));
  const isOfProject =
    basename(script) === 'sluice' && folder.endsWith(join('node_modules', '.bin'));
  if (!isOfProject) return 'sluice';
  // npm puts the folder into the PATH of what it runs, and the person's shell has not got it.
  const isFound =
    env['npm_lifecycle_event'] === undefined &&
    (env['PATH'] ?? '').split(delimiter).some((each) => resolve(cwd, each) === folder);
  return isFound ? 'sluice' : 'npx --no-install sluice';
}

/** The entries that have a value: an option that is absent is not the same as one that is undefined. */
export function omitUndefined<Values extends Readonly<Record<string, unknown>>>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Values]?: Exclude<Values[Name], undefined> };
}
