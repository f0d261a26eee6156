#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { loadScript } from './compiled-script.js';
import { endWith, start, asksVersion, printVersion } from './start.js';
import type { CommandLine } from './run-command-line.js';

if (asksVersion(process.argv.slice(2))) {
  // Whoever asks for it does not wait for the rest.
  await start(async ({ stdout, stderr }) => endWith(async () => printVersion(stdout), stderr));
} else {
  const { exports, keep } = loadScript(fileURLToPath(new URL('command.cjs', import.meta.url)));
  await (exports as CommandLine).startCommandLine(keep);
}
