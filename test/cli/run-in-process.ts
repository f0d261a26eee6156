import { vi } from 'vitest';
import type { Command } from '../../src/cli/command.js';
import { serveCommand } from '../../src/cli/commands/serve.js';
import { verifyCommand } from '../../src/cli/commands/verify.js';
import { describeError } from '../../src/cli/describe-error.js';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { parseCommandLine } from '../../src/cli/parse-command-line.js';

const commands: readonly Command[] = [verifyCommand, serveCommand];

/**
 * What the command says when it refuses its arguments, without a process: for tables that would start
 * dozens of them.
 */
export async function runInProcess(
  [name, ...args]: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<{ readonly code: number; readonly stderr: string }> {
  const command = commands.find((known) => known.name === name);
  if (!command) throw new Error(`no command ${String(name)}`);
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  // Workers have no folder of their own to change into; forks do.
  const before = process.cwd();
  process.chdir(options.cwd);
  const lastActs: (() => Promise<void>)[] = [];
  const lastAct = (act: () => Promise<void>): void => {
    lastActs.push(act);
  };
  try {
    const { positionals, options: parsed } = parseCommandLine(command, args);
    const environment = { ...options.env };
    const { signal } = new AbortController();
    return {
      code: await command.run({ positionals, options: parsed, environment, signal, lastAct }),
      stderr: '',
    };
  } catch (error) {
    return { code: exitCodeOf(error), stderr: describeError(error) };
  } finally {
    for (const act of lastActs) await act();
    process.chdir(before);
    said.mockRestore();
  }
}
