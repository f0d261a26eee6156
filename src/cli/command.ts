/** One option of a command, as it is parsed and as `--help` shows it. */
export interface OptionDefinition {
  /** Without the dashes. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in the help; a switch has none. */
  readonly value?: string;
  readonly isRepeatable?: boolean;
  /** The words that it takes, where they are few: shells complete them. */
  readonly values?: readonly string[];
  readonly help: string;
}

/** What a command was called with. */
export interface CommandInput {
  readonly positionals: readonly string[];
  readonly options: ParsedOptions;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Takes what has to be done right before the process ends, after everything else. */
  readonly lastAct: (act: () => Promise<void>) => void;
}

export interface Command {
  readonly name: string;
  /** The arguments beside the options, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionDefinition[];
  readonly examples: readonly string[];
  /** Commands of two words that begin with this one's. */
  readonly subcommands?: readonly Command[];
  /** The words that it takes as an argument, where they are few. */
  readonly words?: readonly string[];
  /** @returns the exit code */
  run(input: CommandInput): Promise<number>;
}

/** Values of options by name: the last one given counts, unless all are asked for. */
export class ParsedOptions {
  readonly #values: ReadonlyMap<string, readonly (string | true)[]>;

  constructor(values: ReadonlyMap<string, readonly (string | true)[]>) {
    this.#values = values;
  }

  /** These, and of the others those that are not among them; an empty list is an option not given. */
  over(others: ReadonlyMap<string, readonly (string | true)[]>): ParsedOptions {
    const given = [...others].filter(([, values]) => values.length > 0);
    return new ParsedOptions(new Map([...given, ...this.#values]));
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === 'string');
  }
}
