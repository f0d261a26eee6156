import {
  ConfigurationError,
  describeStart,
  describeStatus,
  findRuns,
  readRunStatus,
  type FoundRun,
  type RunStatus,
} from '../../index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { errorText } from '../describe-error.js';
import { withFlags } from '../option-flags.js';
import { exitCodes } from '../exit-code.js';
import { jsonOption, printAnswer } from '../print-answer.js';
import { printableLine } from '../../words/printable.js';

export const statusCommand = defineCommand({
  name: 'status',
  usage: '[<state>] [--json]',
  summary: 'Show an unfinished run, or list those of this folder: what is sent, paid and left.',
  options: [jsonOption],
  examples: ['sluice status', 'sluice status verified.csv.sluice'],
  run: showStatus,
});

async function showStatus({ positionals, options }: CommandInput<'json'>): Promise<number> {
  if (positionals.length === 0) {
    const runs = await findRuns('.');
    const answer = runs.map((run) =>
      'status' in run ? run.status : { stateDir: run.stateDir, error: errorText(run.error) },
    );
    await printAnswer(options, answer, () => describeAll(runs));
  } else {
    const status = await readRunStatus(onlyStateDirectory(positionals));
    await printAnswer(options, status, () => describe(status));
  }
  return exitCodes.done;
}

/** The one argument of commands about a state directory. @throws ConfigurationError */
export function onlyStateDirectory(positionals: readonly string[]): string {
  const [path, ...more] = positionals;
  if (path !== undefined && more.length === 0) return path;
  throw new ConfigurationError('name one state directory, such as verified.csv.sluice');
}

function describeAll(runs: readonly FoundRun[]): string {
  if (runs.length === 0) return 'There is no unfinished run in this folder.\n';
  return runs.map((run) => `${linesOf(run).map(printableLine).join('\n')}\n`).join('\n');
}

function linesOf(run: FoundRun): readonly string[] {
  if ('error' in run) return [run.stateDir, `  ${errorText(run.error)}`];
  const { stateDir, status } = run;
  const { soFar, next } = describeStatus(status);
  return [
    `${stateDir}, begun ${describeStart(status)}`,
    `  ${status.input} to ${status.output}, by ${status.service}`,
    `  ${soFar}`,
    `  the same command ${withFlags(next)}`,
  ];
}

function describe(status: RunStatus): string {
  const stages = Object.entries(status.stages).map(([stage, count]) => `${count} ${stage}`);
  const { soFar, next } = describeStatus(status);
  const lines = [
    `input    ${status.input}`,
    `output   ${status.output}`,
    `service  ${status.service}`,
    `begun    ${status.startedAt}`,
    `rows     ${status.rows ?? 'not read to the end'}`,
    `batches  ${status.batches} (${stages.join(', ') || 'none sent'})`,
    `credits  ${status.launchedCredits.email} email, ${status.launchedCredits.phone} phone launched, before refunds`,
    `so far   ${soFar}`,
    `next     the same command ${withFlags(next)}`,
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}
