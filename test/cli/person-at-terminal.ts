import { PassThrough } from 'node:stream';
import type { Person } from '../../src/cli/terminal/ask-person.js';

/** Somebody at a terminal who answers with a line; tells what was said there. */
export function personAtTerminal(answer: string): Person & { heard(): string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  input.end(`${answer}\n`);
  let heard = '';
  output.setEncoding('utf8').on('data', (text: string) => (heard += text));
  // Streams with the one field of a terminal that is looked at.
  return { input, output, heard: () => heard } as unknown as ReturnType<typeof personAtTerminal>;
}
