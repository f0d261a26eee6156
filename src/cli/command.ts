import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { Clock } from '../index.js';
import type { Message } from './messages/catalogue.js';

export interface OptionType<Value = unknown> {
  /** Stands for the value in help and reference. */
  readonly shown: string;
  /** Words that shells complete: all that are allowed, or the shortest. */
  readonly words?: readonly string[];
  /** Whether it is a file, a folder or a list's location, resolved from the folder of the command line. */
  readonly isPath?: boolean;
  /** Whether it is a list's location, which may be a URL. */
  readonly isLocation?: boolean;
  /** @throws ConfigurationError that says what the option accepts */
  readonly parse: (text: string, name: string) => Value;
}

/** What an option requires or excludes: other options, or a situation that a command has found. */
export interface OptionRule {
  /** At least one of them. */
  readonly anyOf: readonly string[];
  readonly is: 'needed' | 'refused';
  /** The message for a broken rule. */
  readonly message: (name: string) => string;
}

export interface OptionDefinition<Name extends string = string> {
  readonly name: Name;
  readonly short?: string;
  /** Absent for a switch, which takes no value. */
  readonly type?: OptionType;
  readonly isRepeatable?: boolean;
  /** Makes one value of those given. @default they are a list */
  readonly gather?: (values: readonly unknown[]) => unknown;
  /** Whether the value, a verified column, may be omitted. */
  readonly mayBeBare?: boolean;
  readonly help: string;
  /** Whether the short help shows it. */
  readonly isCommon?: boolean;
  /** Heading in the help. */
  readonly group?: string;
  /** Its name in the library. @default its name in camel case */
  readonly library?: string;
  /** Which object of the library takes it. @default of the function itself */
  readonly sets?: 'settings';
  /** Further names in the library. */
  readonly alsoCalled?: readonly string[];
  readonly rules?: readonly OptionRule[];
  /**
   * What it decides about a run, where only the command line has it: compared when the run continues; one that decides
   * for this process alone is no part of the command that resumes it.
   */
  readonly decides?: 'rows' | 'output' | 'rows of the output' | 'this process';
}

export type NameOf<Definitions extends readonly OptionDefinition[]> = Definitions[number]['name'];

type ValueOf<Definition> = Definition extends { readonly type: OptionType<infer Value> }
  ? Definition extends { readonly isRepeatable: true }
    ? readonly Value[]
    : Value
  : true;

/** Values of options by name; absent where not given. */
type OptionValues<Definition extends OptionDefinition> = {
  readonly [Each in Definition as Each['name']]?: ValueOf<Each>;
};

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

/** Definitions with literal names and types: a misspelt option does not compile. @param common fields of all of them */
export function defineOptions<const Definitions extends readonly OptionDefinition[]>(
  definitions: Definitions,
  { rules = [], ...common }: Partial<OptionDefinition> = {},
): Definitions {
  const all = definitions.map((each) => ({
    ...each,
    ...common,
    ...(rules.length > 0 && { rules: [...(each.rules ?? []), ...rules] }),
  }));
  return all as unknown as Definitions;
}

export interface Environment {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export interface Called extends Environment {
  readonly argv: readonly string[];
}

export interface Surroundings extends Called {
  /** Opened on access: most commands do not read it. */
  readonly stdin: () => NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly clock: Pick<Clock, 'now' | 'wallNow'>;
  /** Emits the signals that do not stop the process, such as SIGHUP. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Registers what is done right before the process ends, after everything else. */
  readonly lastAct: (act: () => Promise<void>) => void;
  /** Called with each logged message, whatever its form on standard error. */
  readonly onMessage?: (message: Message) => void;
  /** Called with the state directory of a run, or `null` for one that keeps none: it is named if the process has to end at once. */
  readonly onRun?: (run: { readonly list: string; readonly state: string | null }) => void;
  /** Called when a list is done: by then most code a command may need is compiled. */
  readonly keepCode?: () => void;
}

export interface MessageLog {
  readonly isJson: boolean;
  readonly log: (message: Message) => void;
  /** Called where a configuration wants it. */
  readonly useJson: () => void;
}

export interface ValueWithMore {
  readonly option: string;
  readonly words: readonly string[];
  /** Whether it has none: the argument right after it may have been meant. */
  readonly isBare: boolean;
}

export interface CommandInput<Name extends string = string> extends Surroundings {
  readonly log: MessageLog;
  readonly positionals: readonly string[];
  readonly valuesWithMore?: readonly ValueWithMore[];
  /** The options of the command line alone, without those of a configuration. */
  readonly given: ParsedOptions;
  /** Its own options, and those of every command that a configuration may also name. */
  readonly options: ParsedOptions<Name | 'env-file' | 'json-log'>;
}

export interface Command<Name extends string = string> {
  readonly name: string;
  /** Arguments beside the options, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionDefinition<Name>[];
  readonly examples: readonly string[];
  /** Commands of two words that begin with this one. */
  readonly subcommands?: readonly Command[];
  /** The allowed words of an argument, where they are few. */
  readonly words?: readonly string[];
  readonly run: (input: CommandInput<Name>) => Promise<number>;
}

export function defineCommand<Name extends string = never>(
  command: Omit<Command<Name>, 'run'> & Pick<Command<NoInfer<Name>>, 'run'>,
): Command {
  return command;
}

/** Values of options by name: the last one given counts, unless all are asked for. One of more names serves for fewer. */
export class ParsedOptions<in Name extends string = string> {
  readonly #values: ReadonlyMap<string, readonly (string | true)[]>;

  constructor(values: ReadonlyMap<string, readonly (string | true)[]>) {
    this.#values = values;
  }

  /** These options, and of the others those that are missing here; an empty list counts as not given. */
  over(others: ReadonlyMap<string, readonly (string | true)[]>): ParsedOptions<Name> {
    const given = [...others].filter(([, values]) => values.length > 0);
    return new ParsedOptions(new Map([...given, ...this.#values]));
  }

  with(others: ReadonlyMap<string, readonly (string | true)[]>): ParsedOptions<Name> {
    return new ParsedOptions(new Map([...this.#values, ...others]));
  }

  without(names: readonly Name[]): ParsedOptions<Name> {
    const others = [...this.#values].filter(([name]) => !names.some((each) => each === name));
    return new ParsedOptions(new Map(others));
  }

  values<const Definition extends OptionDefinition<Name>>(
    definitions: readonly Definition[],
  ): OptionValues<Definition> {
    const values = this.#read(definitions).map(({ name, value }) => [name, value] as const);
    return Object.fromEntries(values) as OptionValues<Definition>;
  }

  /** The same as the library's options: `--no-header` is a header that is false. */
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

  /** The given options that decide one of these, as texts by name. */
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
 * The command that runs this program again from the current folder; every printed command begins with it. A
 * project's own copy is not in the shell's PATH; `npx` finds it.
 */
export function programName({ argv, env, cwd }: Called): string {
  const [, script = ''] = argv;
  const folder = dirname(resolve(cwd, script));
  const isOfProject =
    basename(script) === 'sluice' && folder.endsWith(join('node_modules', '.bin'));
  if (!isOfProject) return 'sluice';
  // npm adds the folder to the PATH of what it runs; the person's shell does not have it.
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
