import type { Clock } from '../index.js';

/** One option of a command, as it is parsed and as `--help` shows it. */
export interface OptionDefinition<Name extends string = string> {
  /** Without the dashes. */
  readonly name: Name;
  readonly short?: string;
  /** What stands for the value in the help; a switch has none. */
  readonly value?: string;
  readonly isRepeatable?: boolean;
  /** The words that it takes, where they are few: shells complete them. */
  readonly values?: readonly string[];
  readonly help: string;
  /** Whether the short help of a command of many options shows it. */
  readonly isCommon?: boolean;
  /** Heading of the options among which the help shows it. */
  readonly group?: string;
}

/** The names of some definitions: what may be asked of the options that were parsed by them. */
export type NameOf<Definitions extends readonly OptionDefinition[]> = Definitions[number]['name'];

/**
 * Definitions whose names the compiler keeps: a misspelt option does not compile.
 *
 * @param group the heading that the help puts over them
 */
export function defineOptions<Name extends string = never>(
  definitions: readonly OptionDefinition<Name>[],
  group?: string,
): readonly OptionDefinition<Name>[] {
  return group === undefined ? definitions : definitions.map((each) => ({ ...each, group }));
}

/** Where a command runs: all that it has of its process. */
export interface Surroundings {
  /** The words of the command line, behind the program that runs and its script. */
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  /** Opened when it is read: most commands have no use for it. */
  readonly stdin: () => NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly clock: Pick<Clock, 'now' | 'wallNow'>;
  /** Where the signals are heard that ask for something else than to stop. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Takes what has to be done right before the process ends, after everything else. */
  readonly lastAct: (act: () => Promise<void>) => void;
  /** Called when a list is done: most of the code that a command may need is compiled then. */
  readonly keepCode?: () => void;
}

/** What a command was called with. */
export interface CommandInput<Name extends string = string> extends Surroundings {
  readonly positionals: readonly string[];
  /** The values of options, each with the arguments right after it: those may be the rest of a name. */
  readonly valuesWithMore?: readonly {
    readonly option: string;
    readonly words: readonly string[];
  }[];
  /** Its own, and the one of every command that a configuration may name too. */
  readonly options: ParsedOptions<Name | 'env-file'>;
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
  /** @returns the exit code */
  readonly run: (input: CommandInput<Name>) => Promise<number>;
}

/** A command that reads no option but its own. */
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

  /** Every option that was given, by name, with its values in order. */
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
