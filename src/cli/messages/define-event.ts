import type { ReadOnly, SentenceDefinition } from '../../platform/text/sentence.js';

/** `info` is left out with `--quiet`, `notice` is not; a `warning` asks somebody to look. */
export type Severity = 'info' | 'notice' | 'warning' | 'error';

/** One kind of event: a line for a person, or some, with a severity and a form. */
export interface EventDefinition<in out Fields> extends Omit<
  SentenceDefinition<Fields>,
  'sentence'
> {
  readonly severity: Severity;
  readonly sentence: (fields: ReadOnly<Fields>) => string | readonly string[];
  /** What is to be copied: below the sentence, on a line that nothing breaks. */
  readonly copied?: (fields: ReadOnly<Fields>) => string;
  /** What a terminal has before it: there, lines do not name the program. */
  readonly mark?: string;
}

function definer(severity: Severity) {
  return <Fields>(
    definition: Omit<EventDefinition<Fields>, 'severity'>,
  ): EventDefinition<Fields> => ({ severity, ...definition });
}

export const info = definer('info');
export const notice = definer('notice');
export const warning = definer('warning');
export const error = definer('error');

/** Sentences that another part has made: of an error, an advice, the library. */
export const made = ({ message }: { readonly message: string }): string => message;
