import { createInterface, type Interface } from 'node:readline/promises';
import { printable } from '../../platform/text/printable.js';
import type { CommandInput } from '../command.js';
import { widthOf } from './progress-lines.js';
import type { Reporter } from './reporter.js';
import { hanging } from './text-table.js';

export interface Person {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Whether questions may be asked there: a log has no place for them. @default true */
  readonly mayBeAsked?: boolean;
  /** Clears the terminal of what is redrawn there, while a question is open. @default nothing is redrawn */
  readonly withoutLive?: Reporter['withoutLive'];
}

/** The person at the terminal; not asked where standard error is a log. */
export function terminal(
  { stdin, stderr, options }: Pick<CommandInput<never>, 'stdin' | 'stderr' | 'options'>,
  reporter?: Reporter,
): Person {
  const mayBeAsked = !options.given().some(([name]) => name === 'json-log');
  return {
    input: stdin(),
    output: stderr,
    mayBeAsked,
    ...(reporter && { withoutLive: reporter.withoutLive }),
  };
}

export function isInteractive({ input, output, mayBeAsked = true }: Person): boolean {
  return mayBeAsked && input.isTTY && output.isTTY;
}

/** @returns the trimmed answer; `undefined` when the input ends without one */
export async function ask(
  question: string,
  person: Person,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { input, output, withoutLive = async (work) => work() } = person;
  const dialogue = createInterface({ input, output });
  let isOpen = true;
  dialogue.on('close', () => {
    isOpen = false;
  });
  const askAgain = (): void => {
    if (isOpen) dialogue.prompt(true);
  };
  return withoutLive(async () => askNow(question, dialogue, output, signal), askAgain);
}

async function askNow(
  question: string,
  dialogue: Interface,
  output: Person['output'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const ended = new Promise<undefined>((resolve) => {
    dialogue.on('close', () => resolve(undefined));
  });
  // A terminal in raw mode sends no signal itself.
  dialogue.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    // A column is left for the cursor.
    const shown = `${hanging(printable(question), widthOf(output.columns) - 1)} `;
    const answer = await Promise.race([dialogue.question(shown, { signal }), ended]);
    if (answer !== undefined) return answer.trim();
  } catch (error) {
    if (signal.aborted) output.write('\n');
    signal.throwIfAborted();
    // Ctrl-D refuses the question, or only ends the input, by the version of Node.js.
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  } finally {
    dialogue.close();
  }
  // What comes next stands below the question.
  output.write('\n');
  return undefined;
}

/** How often a question is asked again after an invalid answer. */
export const mostTries = 3;

/** @param isYes whether Enter says so; who ends the input says no, and so does who gives no answer in three tries */
export async function agrees(
  question: string,
  person: Person,
  signal: AbortSignal,
  isYes = false,
): Promise<boolean> {
  const asked = `${question} ${isYes ? '[Y/n]' : '[y/N]'}`;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(tries === 0 ? asked : `Type y or n. ${asked}`, person, signal);
    if (answer === '') return isYes;
    if (answer === undefined || /^no?$/i.test(answer)) return false;
    if (/^y(?:es)?$/i.test(answer)) return true;
  }
  return false;
}
