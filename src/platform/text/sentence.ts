/** An option's value, where a text shows it, too. */
type OptionValue = string | number | boolean | Readonly<Record<string, string>>;

/** @returns `undefined` for an unknown option */
export type OptionNaming = (name: string, value?: OptionValue) => string | undefined;

let currentNaming: OptionNaming = () => undefined;

/**
 * Sets how this process's texts name options: a command line uses its flags. A text is made with these names
 * and never searched for them afterwards, as it may contain names of columns and files.
 *
 * @returns restores the previous naming
 */
export function nameOptionsBy(naming: OptionNaming): () => void {
  const before = currentNaming;
  currentNaming = naming;
  return () => {
    currentNaming = before;
  };
}

/** An option's name in texts: in a program its property, in backticks. */
export function optionName(name: string, value?: OptionValue): string {
  return (
    currentNaming(name, value) ?? `\`${name}${value === undefined ? '' : `: ${inCode(value)}`}\``
  );
}

/** The same as a field: the flag, where there is one, else the property. */
export function optionField(name: string): string {
  const named = currentNaming(name);
  return named?.startsWith('--') === true ? named : name;
}

function inCode(value: OptionValue): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

/** A kind of sentence: when it is given, its fields, and its text. */
export interface SentenceDefinition<Fields> {
  /** When it is given, for the reference. */
  readonly when: string;
  /** Of a notice: whether it needs attention. @default false */
  readonly isWarning?: true;
  /** Its fields, as the reference shows them. */
  readonly example: Fields;
  /** Other values that change its text, for the reference. @default none */
  readonly variants?: readonly Partial<Fields>[];
  /** Cells and names are inserted unescaped: whoever prints it must escape it. */
  readonly sentence: (fields: ReadOnly<Fields>) => string;
}

export type ReadOnly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> }
  : Value;

export function oneOf<const Value>(first: Value, ..._others: readonly Value[]): Value {
  return first;
}

/** An example of a nullable value. */
export function orNull<Value>(value: Value): Value | null {
  return value;
}

export function defineSentence<Fields>(
  definition: SentenceDefinition<Fields>,
): SentenceDefinition<Fields> {
  return definition;
}

/** A sentence with its code and fields, which programs use, as the words may change. */
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
