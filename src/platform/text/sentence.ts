/** One kind of sentence: when it is said, what it carries, and how it reads. */
export interface SentenceDefinition<Fields> {
  /** When it is said: the reference lists it. */
  readonly when: string;
  /** The first version that has it. @default 0.1.0 */
  readonly since?: string;
  /** Its fields, as the reference shows them. */
  readonly example: Fields;
  /** What is otherwise in it where it reads otherwise: the reference shows each. @default none */
  readonly variants?: readonly Partial<Fields>[];
  /** Cells and names stand in it as they are: what prints it escapes. */
  readonly sentence: (fields: ReadOnly<Fields>) => string;
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

export function defineSentence<Fields>(
  definition: SentenceDefinition<Fields>,
): SentenceDefinition<Fields> {
  return definition;
}

/** A sentence with what it was made of: programs go by the code and the fields, for the words may change. */
export function codedSentence<Fields>(
  code: string,
  { sentence }: SentenceDefinition<Fields>,
  fields: ReadOnly<Fields>,
): {
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
} {
  return { code, fields: fields as Readonly<Record<string, unknown>>, message: sentence(fields) };
}
