import type { CommandInput, OptionDefinition } from '../command.js';
import { print } from './print.js';

/** The option that commands have whose answers scripts read. */
export const jsonOption = { name: 'json', help: 'As JSON.' } as const satisfies OptionDefinition;

/**
 * Prints an answer as JSON where that is asked for, else as people read it.
 *
 * @throws OutputError
 */
export async function printAnswer(
  { options, stdout }: Pick<CommandInput<'json'>, 'options' | 'stdout'>,
  answer: unknown,
  forPeople: () => string,
): Promise<void> {
  const text = options.has('json') ? `${JSON.stringify(answer, undefined, 2)}\n` : forPeople();
  await print(text, stdout);
}
