import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hashOfFile } from '../data/cached-file.js';
import { watchSize } from './watch-size.js';
import { runCommand, type CommandRun } from './run-command.js';
import { withScratch } from './scratch.js';
import { sluiceCommand } from './sluice-command.js';
import { withService } from './with-service.js';

const summary = z.looseObject({ rows: z.number(), batches: z.array(z.unknown()) });

/** What a run of the command gave: the output's hash, rows and batches, and how it went. */
export interface VerifyRun extends CommandRun {
  readonly check: string;
  readonly batches: number;
  /** Most bytes that the state directory took, looked at ten times a second. */
  readonly diskBytes: number;
}

/** Runs `sluice verify` on a file against a local service in another process. */
export async function verifyFile(
  input: string,
  args: readonly string[],
  serviceArgs: readonly string[] = [],
): Promise<VerifyRun> {
  return withScratch(async (folder) =>
    withService(['--data', join(folder, 'service'), ...serviceArgs], async (environment) => {
      const output = join(folder, 'output.csv');
      const summaryPath = join(folder, 'summary.json');
      const disk = watchSize(`${output}.sluice`);
      const run = await runCommand(
        sluiceCommand,
        ['verify', input, '-o', output, '--country', 'US', '--summary', summaryPath, ...args],
        { folder, environment: { ...environment } },
      );
      const diskBytes = disk.stop();
      const { rows, batches } = summary.parse(JSON.parse(await readFile(summaryPath, 'utf8')));
      const check = `${rows} ${await hashOfFile(output)}`;
      return { ...run, check, batches: batches.length, diskBytes };
    }),
  );
}
