import { ConfigurationError, parseCountry } from '../../index.js';
import { ask, type Person } from '../terminal/ask-person.js';
import { say } from '../terminal/print.js';
import type { AddedOption } from './whole-command.js';

/** So often a question is asked whose answer means nothing. */
export const mostTries = 3;

/** @throws ConfigurationError when no country is answered */
export async function askCountry(person: Person, signal: AbortSignal): Promise<AddedOption> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask('Country of these addresses, such as DE or Germany:', person, signal);
    if (answer === undefined) break;
    const country = countryIn(answer, person);
    if (country !== undefined) return ['country', country];
  }
  throw new ConfigurationError('a target country is needed: --country <CC>; nothing was sent', {
    code: 'country_missing',
  });
}

/** @returns `undefined` when rows without a country are not to be sent */
export async function askFallback(
  person: Person,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const question = 'Country for these rows, such as DE or Germany [Enter: do not send them]:';
    const answer = await ask(question, person, signal);
    if (answer === undefined || answer === '') break;
    const country = countryIn(answer, person);
    if (country !== undefined) return country;
  }
  return undefined;
}

/** @returns `undefined` when the answer is none, and says why */
function countryIn(answer: string, { output }: Person): string | undefined {
  if (answer === '') return undefined;
  try {
    return parseCountry(answer);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    say(`sluice: ${error.message}`, output);
    return undefined;
  }
}
