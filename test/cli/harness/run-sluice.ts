import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Message } from '../../../src/cli/messages/catalogue.js';
import { type LoggedEvent, parseLog } from './logged-events.js';

/** The command as it is installed. */
const killAtWrite = new URL('../../trials/kill/kill-at-write.mjs', import.meta.url).href;
const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export interface Ended {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Resolves with what the pattern finds on standard error; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** The same with the first event of a name that has these fields, of a command with `--json-log`. */
  reported(
    name: Message['event'],
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<LoggedEvent>;
}

export interface SluiceOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; none is an empty one. */
  readonly input?: string | Buffer;
  /** Whether the test writes standard input itself. */
  readonly keepInputOpen?: boolean;
}

function ownEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: tmpdir() };
}

/** What a process comes to, and what it has said until now. */
function outputOf(child: ChildProcessWithoutNullStreams): {
  readonly ended: Promise<Ended>;
  readonly stderr: () => string;
} {
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr });
    });
  });
  return { ended, stderr: () => stderr };
}

/** Of a process that was started `detached`: its children do not outlive the test either. */
export function killGroupAfterTest({ pid }: ChildProcess): void {
  onTestFinished(() => {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  });
}

/** Starts the command with an environment of its own; it does not outlive the test. */
export function startSluice(args: readonly string[], options: SluiceOptions = {}): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd,
    env: { ...ownEnvironment(), ...options.env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  // A command that does not read its input, or ends early, is no trouble of the test's.
  child.stdin.on('error', () => undefined);
  if (options.keepInputOpen !== true) child.stdin.end(options.input ?? '');
  const { ended, stderr } = outputOf(child);
  const found = <Found>(find: () => Found | null | undefined, what: string): Promise<Found> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const there = find();
        if (there) resolve(there);
      };
      child.stderr.on('data', look);
      look();
      void ended.then(() => reject(new Error(`${what} was not reported: ${stderr()}`)));
    });
  return {
    child,
    ended,
    printed: async (pattern) => found(() => pattern.exec(stderr()), String(pattern)),
    reported: async (name, fields = {}) =>
      found(() => {
        const whole = stderr().slice(0, stderr().lastIndexOf('\n') + 1);
        return parseLog(whole).find(
          (event) =>
            event.event === name &&
            Object.entries(fields).every(([field, value]) => event[field] === value),
        );
      }, name),
  };
}

/** Runs the command to its end. */
export async function runSluice(
  args: readonly string[],
  options: SluiceOptions = {},
): Promise<Ended> {
  return startSluice(args, options).ended;
}

/** Runs the command, which is killed right after so many writes of its journal, if it gets there. */
export async function killBehind(
  args: readonly string[],
  writes: number,
  options: SluiceOptions,
): Promise<Ended> {
  const env = { NODE_OPTIONS: `--import ${killAtWrite}`, KILL_AT: String(writes) };
  return runSluice(args, { ...options, env: { ...options.env, ...env } });
}

/** The same with a shell's line around it, in which `"$SLUICE"` stands for the command. */
export async function runShell(
  line: string,
  options: Pick<SluiceOptions, 'cwd' | 'env'> = {},
): Promise<Ended> {
  const child = spawn('/bin/bash', ['-c', `sluice() { "$NODE" "$PROGRAM" "$@"; }; ${line}`], {
    cwd: options.cwd,
    env: {
      ...ownEnvironment(),
      NODE: process.execPath,
      PROGRAM: program,
      ...options.env,
    },
    detached: true,
  });
  killGroupAfterTest(child);
  child.stdin.end();
  return outputOf(child).ended;
}
