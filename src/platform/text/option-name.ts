/** What an option is set to, where a text says that, too. */
type OptionValue = string | number | boolean | Readonly<Record<string, string>>;

/** @returns `undefined` for an option that is not theirs */
export type OptionNaming = (name: string, value?: OptionValue) => string | undefined;

let currentNaming: OptionNaming = () => undefined;

/**
 * Has every text of this process name options so: a command line calls them by its flags. A text is made with
 * the names that its reader uses, and never searched for names afterwards, for it may hold those of people's
 * columns and files.
 *
 * @returns what names them as before
 */
export function nameOptionsBy(naming: OptionNaming): () => void {
  const before = currentNaming;
  currentNaming = naming;
  return () => {
    currentNaming = before;
  };
}

/** An option as texts call it: in a program by its property, in backticks. */
export function optionName(name: string, value?: OptionValue): string {
  return (
    currentNaming(name, value) ?? `\`${name}${value === undefined ? '' : `: ${inCode(value)}`}\``
  );
}

function inCode(value: OptionValue): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
