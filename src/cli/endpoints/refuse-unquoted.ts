import { InputError } from '../../index.js';
import { shellQuote } from '../../platform/text/shell-quote.js';
import type { CommandInput } from '../command.js';
import { isTaken } from './list-places.js';
import { resolvePath } from './resolve-path.js';

/** A name has fewer words. */
const mostWords = 12;

/**
 * Refuses what is no input but a piece of a name or value with spaces that was not quoted:
 * `my list.csv`, `--email eMail privat`.
 *
 * @throws InputError that guesses the whole
 */
export async function refuseUnquoted({
  valuesWithMore = [],
  positionals,
  cwd,
}: Pick<CommandInput, 'valuesWithMore' | 'positionals' | 'cwd'>): Promise<void> {
  const isThere = async (word: string): Promise<boolean> => isTaken(resolvePath(cwd, word));
  await refuseUnquotedName(positionals.slice(0, mostWords), isThere);
  for (const { option, words } of valuesWithMore) {
    const [value = '', ...more] = words;
    const rest: string[] = [];
    for (const word of more) {
      // Patterns and URLs are no words of a name.
      if (/[*?:/\\]/.test(word) || word === '-' || (await isThere(word))) break;
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

async function refuseUnquotedName(
  words: readonly string[],
  isThere: (word: string) => Promise<boolean>,
): Promise<void> {
  for (const [first, word] of words.entries()) {
    if (await isThere(word)) continue;
    for (let end = first + 2; end <= words.length; end += 1) {
      const whole = words.slice(first, end).join(' ');
      if (!(await isThere(whole))) continue;
      throw new InputError(
        `cannot read ${word}: there is no such file; a name with spaces needs quotes: ${shellQuote(whole)}`,
        { code: 'input_unreadable' },
      );
    }
  }
}
