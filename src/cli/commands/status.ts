import {
  ConfigurationError,
  type DescribedRun,
  describeStatus,
  findRuns,
  type FoundRun,
  type FoundSharedRun,
  readRunStatus,
  type RunStatus,
  type SharedRunStatus,
  type SharedStore,
  type WorkerStatus,
} from '../../index.js';
import { printableLine } from '../../platform/text/printable.js';
import {
  counted,
  describeCredits,
  duration,
  grouped,
  moment,
  startText,
} from '../../platform/text/shown-numbers.js';
import { type CommandInput, defineCommand, type ParsedOptions } from '../command.js';
import { unlessStopped } from '../connect.js';
import { resolvePath } from '../endpoints/locations.js';
import { exitCodes } from '../process/exit-code.js';
import { errorText } from '../messages/describe-error.js';
import { onlyPath } from '../options/parse-command-line.js';
import { sharedRunOf, sharedRunOptions, storeUrlOf } from '../options/store-options.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { widthOf } from '../terminal/progress-lines.js';
import { hanging } from '../terminal/text-table.js';

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
  async run(input) {
    const { positionals, options, cwd, signal } = input;
    if (options.has('store') && !options.has('run') && positionals.length === 0) {
      const { findPostgresRuns } = await import('../../lists/sql/postgres/index.js');
      const found = findPostgresRuns({ connectionString: storeUrlOf(options, input) });
      const runs = await unlessStopped(found, signal);
      await printRuns(input, runs, linesOfShared, 'No run in this store.');
    } else if (!isShared(options) && positionals.length === 0) {
      const runs = await findRuns(resolvePath(cwd, '.'));
      await printRuns(input, runs, linesOf, 'No unfinished run in this folder.');
    } else {
      const status = isShared(options)
        ? await unlessStopped(readRunStatus(await onlySharedRun(input)), signal)
        : await readRunStatus(onlyPath(input, nameState));
      await printAnswer(input, status, () => fitted(describe(status), input));
    }
    return exitCodes.done;
  },
});

async function printRuns<Found extends FoundRun | FoundSharedRun>(
  input: CommandInput<'json'>,
  runs: readonly Found[],
  describe: (found: Found) => readonly string[],
  none: string,
): Promise<void> {
  const answer = runs.map((found) =>
    'status' in found ? found.status : { ...found, error: errorText(found.error) },
  );
  await printAnswer(input, answer, () => fitted(blocks(runs.map(describe), none), input));
}

/** Lines as wide as the terminal; elsewhere they stay whole. */
export function fitted(text: string, { stdout }: CommandInput<never>): string {
  if (!stdout.isTTY) return text;
  const width = widthOf(stdout.columns);
  return text
    .split('\n')
    .map((line) => hanging(line, width))
    .join('\n');
}

export function isShared(options: ParsedOptions<'store' | 'run'>): boolean {
  return options.has('store') || options.has('run');
}

/** The shared run of commands that take none but its options. */
export async function onlySharedRun(input: CommandInput<'store' | 'run'>): Promise<SharedStore> {
  const store = await sharedRunOf(input);
  if (store && input.positionals.length === 0) return store;
  throw new ConfigurationError('name a state directory, or a run with --store and --run', {
    fault: 'missing',
  });
}

export const nameState = 'name one state directory, such as verified.csv.sluice';

export function blocks(all: readonly (readonly string[])[], none: string): string {
  if (all.length === 0) return `${none}\n`;
  return all.map((lines) => `${lines.map(printableLine).join('\n')}\n`).join('\n');
}

export function linesOf(run: FoundRun): readonly string[] {
  if ('error' in run) return [run.stateDir, `  ${errorText(run.error)}`];
  const { stateDir, status } = run;
  const { soFar, next } = describeStatus(status);
  return [
    `${stateDir}, begun ${startText(status.startedAt)}`,
    `  ${status.input} to ${status.output}, by ${status.service}`,
    `  ${soFar}`,
    `  the same command ${next}`,
  ];
}

/** The JSON has the stages themselves. */
const stageWords: Readonly<Record<string, string>> = {
  planned: 'not sent',
  uploading: 'being sent',
  uploaded: 'sent',
  parsing: 'being prepared',
  ready: 'prepared',
  launching: 'being launched',
  verifying: 'being verified',
  done: 'verified',
  exported: 'done',
};

function describe(status: RunStatus | SharedRunStatus): string {
  const { soFar, next } = 'workers' in status ? describeShared(status) : describeStatus(status);
  const stages = Object.entries(status.stages).map(
    ([stage, count]) => `${grouped(count)} ${stageWords[stage] ?? stage}`,
  );
  // A finished shared run no longer has its batches.
  const none = status.isFinished ? 'all at their end' : 'none sent';
  const [paid, paidBefore] = [status.launchedCredits, status.earlierCredits].map(describeCredits);
  const lines = [
    `input    ${status.input}`,
    `output   ${status.output}`,
    `service  ${status.service}`,
    `begun    ${moment(new Date(status.startedAt))}`,
    `rows     ${status.rows === null ? 'not read to the end' : grouped(status.rows)}`,
    `batches  ${grouped(status.batches)} (${stages.join(', ') || none})`,
    `credits  ${paid === undefined ? 'none spent' : `at most ${paid}, before refunds`}`,
    ...(paidBefore === undefined
      ? []
      : [`         ${paidBefore} more by earlier runs of the list, before refunds`]),
    `so far   ${soFar}`,
    ...(status.stopped ? [`stopped  ${status.stopped.message}`] : []),
    `next     the same command ${next}`,
    ...('workers' in status
      ? [
          `state    ${status.state}`,
          `workers  ${alive(status)}`,
          ...status.workers.map((worker) => `  ${workerLine(worker)}`),
        ]
      : []),
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}

function linesOfShared(found: FoundSharedRun): readonly string[] {
  if ('error' in found) return [found.run, `  ${errorText(found.error)}`];
  const { status } = found;
  const { soFar, next } = describeShared(status);
  const { run, state, stopped, input, output, service } = status;
  return [
    `${run}, begun ${startText(status.startedAt)}, ${state}`,
    ...(input === '' ? [] : [`  ${input} to ${output}, by ${service}`]),
    ...(stopped ? [`  stopped: ${stopped.message}`] : []),
    `  ${soFar}; ${alive(status)}`,
    `  the same command ${next}`,
  ];
}

function describeShared(status: SharedRunStatus): DescribedRun {
  const { state } = status;
  const { soFar, next } = describeStatus(status);
  const goesOn = state === 'reading' || state === 'working' ? 'joins it' : next;
  return {
    soFar: state === 'reading' ? 'the input is being read' : soFar,
    next: state === 'finished' ? 'shows its summary again, and sends nothing' : goesOn,
  };
}

function alive({ workers }: SharedRunStatus): string {
  return `${counted(workers.filter(({ isAlive }) => isAlive).length, 'process')} alive`;
}

function workerLine({ host, pid, isAlive, silentSeconds, batches, figures }: WorkerStatus): string {
  const { rowsRead, rowsWritten, batchesDone } = figures;
  const seen = `${isAlive ? '' : 'dead, '}last sign of life ${duration(silentSeconds)} ago`;
  const parts = [
    `${host} ${pid}: ${seen}`,
    `${counted(rowsRead, 'row')} read`,
    `${counted(batchesDone, 'batch')} done`,
    ...(rowsWritten > 0 ? [`${counted(rowsWritten, 'row')} written`] : []),
    ...(batches.length > 0 ? [`has ${batches.join(', ')}`] : []),
  ];
  return parts.join(', ');
}
