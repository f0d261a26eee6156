#!/usr/bin/env node
import { version } from '../index.js';
import type { Command } from './command.js';
import { abandonCommand } from './commands/abandon.js';
import { conformanceCommand } from './commands/conformance.js';
import { serveCommand } from './commands/serve.js';
import { statusCommand } from './commands/status.js';
import { verifyCommand } from './commands/verify.js';
import { describeError } from './describe-error.js';
import { exitCodeOf, exitCodes } from './exit-code.js';
import { commandHelp, programHelp } from './help.js';
import { abortOnSignals } from './interruption.js';
import { parseCommandLine } from './parse-command-line.js';
import { outliveClosedPipes, print, printed } from './print.js';

const commands: readonly Command[] = [
  verifyCommand,
  serveCommand,
  statusCommand,
  abandonCommand,
  conformanceCommand,
];

// An event loop that runs dry with a promise still open ends the process with this code, not with 0.
process.exitCode = exitCodes.defect;
outliveClosedPipes(process);
const lastActs: (() => Promise<void>)[] = [];
const exitCode = await endWith(async () => dispatch(process.argv.slice(2)));
await printed(process);
const lastCode = await endWith(async () => {
  for (const act of lastActs) await act();
  return exitCode;
});
// At once, not after the engine has been taken down: behind the last act nothing may be killed.
process.exit(lastCode);

async function endWith(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-V') {
    await print(`${version}\n`);
    return exitCodes.done;
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    await print(programHelp(commands, version));
    return exitCodes.done;
  }
  const command = commands.find((known) => known.name === name);
  if (!command) {
    const trouble = name === undefined ? '' : `sluice: there is no command ${name}\n\n`;
    process.stderr.write(trouble + programHelp(commands, version));
    return exitCodes.usage;
  }
  const { positionals, options } = parseCommandLine(command, rest);
  if (options.has('help')) {
    await print(commandHelp(command));
    return exitCodes.done;
  }
  return command.run({
    positionals,
    options,
    environment: process.env,
    signal: abortOnSignals(process),
    lastAct: (act) => lastActs.push(act),
  });
}
