import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A question that the command asks, and what somebody types when they read it. */
export type Answer = readonly [question: RegExp, keys: string];

export interface AtTerminal {
  readonly code: number | null;
  /** All that was on the terminal, without what moves the cursor. */
  readonly seen: string;
}

/**
 * Runs the command at a real terminal, which `script` of util-linux gives it; somebody answers each
 * question as soon as it is there.
 */
export async function runAtTerminal(
  args: readonly string[],
  {
    cwd,
    env,
    answers,
  }: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly answers: readonly Answer[];
  },
): Promise<AtTerminal> {
  const quoted = [process.execPath, program, ...args].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  const child = spawn('script', ['-qefc', quoted.join(' '), '/dev/null'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TERM: 'xterm', ...env },
    detached: true,
  });
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  child.stdin.on('error', () => undefined);
  const left = [...answers];
  let from = 0;
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    const [next] = left;
    if (!next?.[0].test(seen.slice(from))) return;
    left.shift();
    from = seen.length;
    child.stdin.write(next[1]);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (left.length > 0) throw new Error(`${String(left[0]?.[0])} was not asked: ${seen}`);
  // oxlint-disable-next-line no-control-regex
  return { code, seen: seen.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r\n', '\n') };
}
