/** `info` is left out with `--quiet`, `notice` is not; a `warning` asks somebody to look. */
export type Severity = 'info' | 'notice' | 'warning' | 'error';

/** One kind of event: what it is, what it carries, and how it reads. */
export interface EventDefinition<Fields> {
  readonly severity: Severity;
  /** When it happens: the reference lists it. */
  readonly when: string;
  /** The first version that has it. @default 0.1.0 */
  readonly since?: string;
  /** Its fields, as the reference shows them. */
  readonly example: Fields;
  /** A line for a person, or some. Cells and names stand in it as they are: what prints it escapes. */
  readonly sentence: (fields: ReadOnly<Fields>) => string | readonly string[];
  /** What is to be copied: below the sentence, on a line that nothing breaks. */
  readonly copied?: (fields: ReadOnly<Fields>) => string;
  /** What a terminal has before it: there, lines do not name the program. */
  readonly mark?: string;
}

export type ReadOnly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> }
  : Value;

/** The first of them as an example. */
export function oneOf<const Value>(first: Value, ..._others: readonly Value[]): Value {
  return first;
}

/** An example of what may also be null. */
export function orNull<Value>(value: Value): Value | null {
  return value;
}

export function define<Fields>(definition: EventDefinition<Fields>): EventDefinition<Fields> {
  return definition;
}

/** Sentences that another part has made: of an error, an advice, the library. */
export const made = ({ message }: { readonly message: string }): string => message;
