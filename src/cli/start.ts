import { exitCodes } from './exit-code.js';
import { abortOnSignals } from './interruption.js';
import { outliveClosedPipes, printed } from './print.js';
import { endWith, runCommandLine } from './run-command-line.js';

/** Runs the command line of this process, and ends it. */
export async function start(): Promise<never> {
  // An event loop that runs dry with a promise still open ends the process with this code, not with 0.
  process.exitCode = exitCodes.defect;
  outliveClosedPipes(process);
  const lastActs: (() => Promise<void>)[] = [];
  const exitCode = await runCommandLine(process.argv.slice(2), {
    environment: process.env,
    signal: abortOnSignals(process),
    lastAct: (act) => lastActs.push(act),
  });
  await printed(process);
  const lastCode = await endWith(async () => {
    for (const act of lastActs) await act();
    return exitCode;
  });
  // At once, not after the engine has been taken down: behind the last act nothing may be killed.
  return process.exit(lastCode);
}
