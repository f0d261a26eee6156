import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Estimate, RunOptions, RunReports, Summary } from '../../index.js';
import type { CommandInput } from '../command.js';
import type { Target } from '../connect.js';
import {
  besideLocation,
  type Location,
  locationOf,
  pathOf,
  removeAt,
} from '../endpoints/locations.js';
import { limitMessages, type RunFacts, trialMessages } from '../messages/end-messages.js';
import { givenOptions } from '../options/library-options.js';
import type { VerifyOption } from '../options/verify-options.js';
import { exitCodes } from '../process/exit-code.js';
import type { Reporter } from '../terminal/reporter.js';

export interface RunParts {
  readonly run: RunFacts;
  readonly reporter: Reporter;
  readonly reports: RunReports;
  /** Whether service and cost were shown and agreed to before. @default false */
  readonly isCostShown?: boolean;
}

export interface JobEnd {
  readonly reportSummary: (figures: Summary | Estimate) => Promise<void>;
  /** Valid once its end was reported. */
  readonly exitCode: () => number;
  readonly onProgress: NonNullable<RunOptions['onProgress']>;
}

export async function createEnd(
  to: Location,
  input: CommandInput<VerifyOption>,
  { run, reporter, reports }: RunParts,
  { target, hasSuspect }: { readonly target: Target; readonly hasSuspect: boolean },
): Promise<JobEnd> {
  const hasHistory = input.options.has('history');
  const { limit } = givenOptions(input.options);
  const bytesBefore = await sizeOf(to);
  let stoppedBy: string | undefined;
  let exitCode: number = exitCodes.done;
  return {
    exitCode: () => exitCode,
    async reportSummary(figures) {
      const isEmptied = figures.rows === 0 && bytesBefore > (await sizeOf(to));
      const known = { isEmptied, stoppedBy };
      if (!('dry_run' in figures)) {
        const limited = limitMessages(figures, hasHistory);
        const advice = reports.adviceOn(figures, known);
        reporter.finished(figures, reports.endOf(figures, known), advice, limited);
        if (hasSuspect && !figures.suspect) await removeSuspects(figures, input);
      }
      const { noMoreOpenThan } = run;
      exitCode = (await reports.finished(figures, { noMoreOpenThan, ...known })).exit_code;
    },
    onProgress(progress) {
      if (progress.stage === 'stopped') stoppedBy = progress.error.code;
      reporter.progress(progress);
      // A streaming run has reported it before.
      if (progress.stage !== 'read' || progress.toSend === 0 || run.isStreaming) return;
      const { rows } = progress;
      reporter.report(trialMessages({ rows, limit, service: target.kind }, hasHistory));
    },
  };
}

/** A good output removes the suspect one. */
async function removeSuspects(
  { outputs }: Summary,
  input: CommandInput<VerifyOption>,
): Promise<void> {
  for (const { name } of outputs) {
    await removeAt(besideLocation(locationOf(name, input), '.suspect'));
  }
}

async function sizeOf(to: Location): Promise<number> {
  const path = pathOf(to) ?? '';
  const inFolder = await readdir(path).catch(() => ['']);
  let bytes = 0;
  for (const name of inFolder) {
    const found = await stat(join(path, name)).catch(() => undefined);
    if (found?.isFile() === true) bytes += found.size;
  }
  return bytes;
}
