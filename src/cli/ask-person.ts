import { createInterface } from 'node:readline/promises';

/** Whoever runs the command, as far as there is somebody. */
export interface Person {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** Whether somebody is at the terminal who can be asked. */
export function isThere({ input, output }: Person): boolean {
  return input.isTTY && output.isTTY;
}

/** Asks a question to which only yes is yes. */
export async function agrees(
  question: string,
  { input, output }: Person,
  signal: AbortSignal,
): Promise<boolean> {
  const terminal = createInterface({ input, output });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
