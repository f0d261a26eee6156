import {
  ConfigurationError,
  describeStart,
  describeStatus,
  findRuns,
  readRunStatus,
  type DescribedRun,
  type FoundRun,
  type FoundSharedRun,
  type RunStatus,
  type SharedStore,
} from '../../index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { errorText } from '../messages/describe-error.js';
import { exitCodes } from '../exit-code.js';
import { jsonOption, printAnswer } from '../terminal/print-answer.js';
import { resolvePath } from '../endpoints/resolve-path.js';
import { describeShared, linesOfShared } from '../messages/shared-status-lines.js';
import { sharedRunOf, sharedRunOptions, storeUrlOf } from '../options/store-options.js';
import { printableLine } from '../../platform/text/printable.js';

export const statusCommand = defineCommand({
  name: 'status',
  usage: '[<state> | --store <url> [--run <name>]] [--json]',
  summary:
    'Show an unfinished run, or list those of this folder or of a store: what is sent, paid and left.',
  options: [jsonOption, ...sharedRunOptions],
  examples: [
    'sluice status',
    'sluice status verified.csv.sluice',
    'sluice status --store env:SLUICE_STORE',
    'sluice status --store env:SLUICE_STORE --run contacts-2026-11-22',
  ],
  run: showStatus,
});

async function showStatus(input: CommandInput<'json' | 'store' | 'run'>): Promise<number> {
  const { positionals, options, cwd } = input;
  if (options.has('store') && !options.has('run') && positionals.length === 0) {
    const { findPostgresRuns } = await import('../../lists/sql/postgres/index.js');
    const runs = await findPostgresRuns({ connectionString: storeUrlOf(options, input) });
    const answer = runs.map((found) =>
      'status' in found ? found.status : { run: found.run, error: errorText(found.error) },
    );
    await printAnswer(input, answer, () => describeStore(runs));
  } else if (options.has('store') || options.has('run')) {
    const status = await readRunStatus(await onlySharedRun(input));
    await printAnswer(input, status, () => describe(status, describeShared(status)));
  } else if (positionals.length === 0) {
    const runs = await findRuns(resolvePath(cwd, '.'));
    const answer = runs.map((run) =>
      'status' in run ? run.status : { stateDir: run.stateDir, error: errorText(run.error) },
    );
    await printAnswer(input, answer, () => describeAll(runs));
  } else {
    const status = await readRunStatus(onlyStateDirectory(input));
    await printAnswer(input, status, () => describe(status));
  }
  return exitCodes.done;
}

/** The shared run of commands that take none but its options. @throws ConfigurationError */
export async function onlySharedRun(input: CommandInput<'store' | 'run'>): Promise<SharedStore> {
  const store = await sharedRunOf(input);
  if (store && input.positionals.length === 0) return store;
  throw new ConfigurationError('name a state directory, or a run with --store and --run');
}

/** The one argument of commands about a state directory. @throws ConfigurationError */
export function onlyStateDirectory({
  positionals,
  cwd,
}: Pick<CommandInput, 'positionals' | 'cwd'>): string {
  const [path, ...more] = positionals;
  if (path !== undefined && more.length === 0) return resolvePath(cwd, path);
  throw new ConfigurationError('name one state directory, such as verified.csv.sluice');
}

function describeAll(runs: readonly FoundRun[]): string {
  if (runs.length === 0) return 'There is no unfinished run in this folder.\n';
  return blocks(runs.map(linesOf));
}

function describeStore(runs: readonly FoundSharedRun[]): string {
  if (runs.length === 0) return 'There is no run in this store.\n';
  return blocks(runs.map(linesOfShared));
}

function blocks(all: readonly (readonly string[])[]): string {
  return all.map((lines) => `${lines.map(printableLine).join('\n')}\n`).join('\n');
}

function linesOf(run: FoundRun): readonly string[] {
  if ('error' in run) return [run.stateDir, `  ${errorText(run.error)}`];
  const { stateDir, status } = run;
  const { soFar, next } = describeStatus(status);
  return [
    `${stateDir}, begun ${describeStart(status)}`,
    `  ${status.input} to ${status.output}, by ${status.service}`,
    `  ${soFar}`,
    `  the same command ${next}`,
  ];
}

function describe(
  status: RunStatus,
  { soFar, next, more = [] }: DescribedRun & { readonly more?: readonly string[] } = describeStatus(
    status,
  ),
): string {
  const stages = Object.entries(status.stages).map(([stage, count]) => `${count} ${stage}`);
  const lines = [
    `input    ${status.input}`,
    `output   ${status.output}`,
    `service  ${status.service}`,
    `begun    ${status.startedAt}`,
    `rows     ${status.rows ?? 'not read to the end'}`,
    `batches  ${status.batches} (${stages.join(', ') || 'none sent'})`,
    `credits  ${status.launchedCredits.email} email, ${status.launchedCredits.phone} phone launched, before refunds`,
    `so far   ${soFar}`,
    ...(status.stopped ? [`stopped  ${status.stopped.message}`] : []),
    `next     the same command ${next}`,
    ...more,
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}
