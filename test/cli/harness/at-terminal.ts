import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Person } from '../../../src/cli/terminal/ask-person.js';
import { killGroupAfterTest } from './run-sluice.js';

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A question that the command asks, and what somebody types when they read it. */
export type Answer = readonly [question: RegExp, keys: string];

export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly answers: readonly Answer[];
}

export interface AtTerminal {
  readonly code: number | null;
  /** All that was on the terminal, without what moves the cursor. */
  readonly seen: string;
}

/** Somebody at a terminal, who answers each question as soon as it is there. */
export class Somebody {
  readonly #left: Answer[];
  readonly #type: (keys: string) => void;
  #from = 0;
  #seen = '';

  constructor(answers: readonly Answer[], type: (keys: string) => void) {
    this.#left = [...answers];
    this.#type = type;
  }

  see(text: string): void {
    this.#seen += text;
    const [next] = this.#left;
    if (!next?.[0].test(this.#seen.slice(this.#from))) return;
    this.#left.shift();
    this.#from = this.#seen.length;
    this.#type(next[1]);
  }

  /**
   * @returns all that was on the terminal, without what moves the cursor
   * @throws Error where a question was not asked
   */
  seen(): string {
    const [question] = this.#left;
    if (question) throw new Error(`${String(question[0])} was not asked: ${this.#seen}`);
    // oxlint-disable-next-line no-control-regex
    return this.#seen.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r\n', '\n');
  }
}

/**
 * Runs the command at a real terminal, which `script` of util-linux gives it, wide enough for every line; somebody answers each
 * question as soon as it is there.
 */
export async function runAtTerminal(
  args: readonly string[],
  { cwd, env, answers }: TerminalOptions,
): Promise<AtTerminal> {
  const quoted = [process.execPath, program, ...args].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  const child = spawn('script', ['-qefc', `stty cols 1000; ${quoted.join(' ')}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm', ...env },
    detached: true,
  });
  killGroupAfterTest(child);
  child.stdin.on('error', () => undefined);
  const somebody = new Somebody(answers, (keys) => child.stdin.write(keys));
  child.stdout.setEncoding('utf8').on('data', (text: string) => somebody.see(text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, seen: somebody.seen() };
}

/** Somebody at a terminal who answers with a line; tells what was said there. */
export function personAtTerminal(answer: string): Person & { received(): string } {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  input.end(`${answer}\n`);
  let received = '';
  output.setEncoding('utf8').on('data', (text: string) => (received += text));
  // Streams with the one field of a terminal that is looked at.
  return { input, output, received: () => received } as unknown as ReturnType<
    typeof personAtTerminal
  >;
}
