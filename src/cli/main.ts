#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { loadScript } from './process/compiled-script.js';
import { errorText } from './messages/describe-error.js';
import { endWith, start, asksVersion, printVersion } from './process/start.js';
import { printLines } from './terminal/print.js';
import type { CommandLine } from './run-command-line.js';

if (asksVersion(process.argv.slice(2))) {
  // `--version` does not wait for the rest.
  const failed = (error: unknown): void => {
    printLines(`sluice: ${errorText(error)}\n`, process.stderr);
  };
  await start(
    async ({ stdout }) => endWith(async () => printVersion(stdout), failed),
    () => ({ failed }),
  );
} else {
  const { exports, keep } = loadScript(fileURLToPath(new URL('command.cjs', import.meta.url)));
  await (exports as CommandLine).startCommandLine(keep);
}
