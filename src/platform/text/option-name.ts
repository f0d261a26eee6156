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

function inCode(value: OptionValue): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}
