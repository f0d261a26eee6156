import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hashOfFile } from '../data/cached-file.js';
import { watchSize } from './watch-size.js';
import { runCommand, type CommandRun } from './run-command.js';
import { withScratch } from './scratch.js';
import { sluiceCommand } from './sluice-command.js';
import { usageIn } from './usage.js';
import { withService } from './with-service.js';

const summary = z.looseObject({ rows: z.number() });

/** What a run of the command gave: its rows and the hash of its output, and how it went. */
export interface VerifyRun extends CommandRun {
  readonly check: string;
  /** What the service used, in its own process. */
  readonly serviceCpuSeconds: number;
  /** Most bytes that the state directory took, looked at ten times a second. */
  readonly diskBytes: number;
}

/**
 * Runs `sluice verify` on a file against a local service in another process.
 *
 * @param output.ending its format; @param output.hash of what is in it, where not its bytes count
 */
export async function verifyFile(
  input: string,
  args: readonly string[],
  { ending = 'csv', hash = hashOfFile } = {},
): Promise<VerifyRun> {
  return withScratch(async (folder) => {
    const [output, summaryFile, serviceUsage] = [
      join(folder, `output.${ending}`),
      join(folder, 'summary.json'),
      join(folder, 'service-usage'),
    ];
    const disk = watchSize(`${output}.sluice`);
    const verify = ['verify', input, '-o', output, '--country', 'US', '--summary', summaryFile];
    const run = await withService(
      ['--data', join(folder, 'service')],
      async (environment) =>
        runCommand(sluiceCommand, [...verify, ...args], {
          folder,
          environment: { ...environment },
        }),
      serviceUsage,
    );
    const diskBytes = disk.stop();
    const { rows } = summary.parse(JSON.parse(await readFile(summaryFile, 'utf8')));
    const { cpuSeconds: serviceCpuSeconds } = await usageIn(serviceUsage);
    return { ...run, check: `${rows} ${await hash(output)}`, serviceCpuSeconds, diskBytes };
  });
}
