import { InputError } from '../index.js';
import { shellQuote } from '../words/shell-quote.js';
import type { CommandInput } from './command.js';
import { isTaken } from './list-places.js';

/**
 * Refuses what is no input but the rest of a value with spaces that was not quoted:
 * `--email eMail privat`.
 *
 * @throws InputError that guesses the value
 */
export async function refuseUnquoted({
  valuesWithMore = [],
}: Pick<CommandInput, 'valuesWithMore'>): Promise<void> {
  for (const { option, words } of valuesWithMore) {
    const [value = '', ...more] = words;
    const rest: string[] = [];
    for (const word of more) {
      // Patterns and URLs are no words of a name.
      if (/[*?:/\\]/.test(word) || word === '-' || (await isTaken(word))) break;
      rest.push(word);
    }
    if (rest.length === 0) continue;
    const whole = shellQuote([value, ...rest].join(' '));
    throw new InputError(
      `cannot read ${rest[0] ?? ''}: there is no such file; if it belongs to the value of ${option}, quote the whole: ${option} ${whole}`,
      { code: 'input_unreadable' },
    );
  }
}
