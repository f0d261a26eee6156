import {
  abandonRun,
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
import { printableLine, shellQuote } from '../../platform/text/printable.js';
import {
  counted,
  describeCredits,
  duration,
  grouped,
  moment,
  startText,
} from '../../platform/text/shown-numbers.js';
import { type CommandInput, defineCommand, programName } from '../command.js';
import {
  chooseTarget,
  connect,
  outageReporter,
  unlessStopped,
  connectionOptions,
  type ConnectionOption,
} from '../connect.js';
import { asWritten, resolvePath } from '../endpoints/locations.js';
import { confirmDiscard, leftMessages } from '../job/questions.js';
import { exitCodes } from '../process/exit-code.js';
import { errorText } from '../messages/describe-error.js';
import { message } from '../messages/catalogue.js';
import { onlyPath } from '../options/parse-command-line.js';
import { sharedRunOf, sharedRunOptions, storeUrlOf } from '../options/store-options.js';
import { terminal } from '../terminal/ask-person.js';
import { jsonOption, jsonText, print, printAnswer } from '../terminal/print.js';
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
  run: showStatus,
});

async function showStatus(input: CommandInput<'json' | 'store' | 'run'>): Promise<number> {
  const { positionals, options, cwd, signal } = input;
  if (options.has('store') && !options.has('run') && positionals.length === 0) {
    const { findPostgresRuns } = await import('../../lists/sql/postgres/index.js');
    const found = findPostgresRuns({ connectionString: storeUrlOf(options, input) });
    const runs = await unlessStopped(found, signal);
    const answer = runs.map((found) =>
      'status' in found ? found.status : { run: found.run, error: errorText(found.error) },
    );
    await printAnswer(input, answer, () =>
      fitted(blocks(runs.map(linesOfShared), 'No run in this store.'), input),
    );
  } else if (options.has('store') || options.has('run')) {
    const status = await unlessStopped(readRunStatus(await onlySharedRun(input)), signal);
    await printAnswer(input, status, () => fitted(describe(status, describeShared(status)), input));
  } else if (positionals.length === 0) {
    const runs = await findRuns(resolvePath(cwd, '.'));
    const answer = runs.map((run) =>
      'status' in run ? run.status : { stateDir: run.stateDir, error: errorText(run.error) },
    );
    await printAnswer(input, answer, () =>
      fitted(blocks(runs.map(linesOf), 'No unfinished run in this folder.'), input),
    );
  } else {
    const status = await readRunStatus(onlyPath(input, nameState));
    await printAnswer(input, status, () => fitted(describe(status), input));
  }
  return exitCodes.done;
}

/** Lines as wide as the terminal; elsewhere they stay whole. */
function fitted(text: string, { stdout }: CommandInput<never>): string {
  if (!stdout.isTTY) return text;
  const width = widthOf((stdout as Partial<NodeJS.WriteStream>).columns);
  return text
    .split('\n')
    .map((line) => hanging(line, width))
    .join('\n');
}

/** The shared run of commands that take none but its options. */
async function onlySharedRun(input: CommandInput<'store' | 'run'>): Promise<SharedStore> {
  const store = await sharedRunOf(input);
  if (store && input.positionals.length === 0) return store;
  throw new ConfigurationError('name a state directory, or a run with --store and --run', {
    fault: 'missing',
  });
}

const nameState = 'name one state directory, such as verified.csv.sluice';

function blocks(all: readonly (readonly string[])[], none: string): string {
  if (all.length === 0) return `${none}\n`;
  return all.map((lines) => `${lines.map(printableLine).join('\n')}\n`).join('\n');
}

function linesOf(run: FoundRun): readonly string[] {
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

function describe(
  status: RunStatus,
  { soFar, next, more = [] }: DescribedRun & { readonly more?: readonly string[] } = describeStatus(
    status,
  ),
): string {
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
    ...more,
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

function describeShared(
  status: SharedRunStatus,
): DescribedRun & { readonly more: readonly string[] } {
  const { state, workers } = status;
  const { soFar, next } = describeStatus(status);
  return {
    soFar: state === 'reading' ? 'the input is being read' : soFar,
    next: nextOf(state) ?? next,
    more: [
      `state    ${state}`,
      `workers  ${alive(status)}`,
      ...workers.map((worker) => `  ${workerLine(worker)}`),
    ],
  };
}

function nextOf(state: SharedRunStatus['state']): string | undefined {
  if (state === 'finished') return 'shows its summary again, and sends nothing';
  return state === 'reading' || state === 'working' ? 'joins it' : undefined;
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

export const abandonCommand = defineCommand({
  name: 'abandon',
  usage: '(<state> | --store <url> --run <name>)',
  summary:
    'Give up an unfinished run: delete its unpaid batches from the service, and its state directory.',
  options: [
    jsonOption,
    {
      name: 'yes',
      help: 'Drop paid results without being asked; needed where nobody is at a terminal.',
    },
    ...sharedRunOptions,
    ...connectionOptions,
  ],
  examples: [
    'sluice abandon verified.csv.sluice',
    'sluice abandon verified.csv.sluice --yes',
    'sluice abandon --store env:SLUICE_STORE --run contacts-2026-11-22',
  ],
  run: abandon,
});

/** Lists the runs that could be meant. @throws ConfigurationError in any case */
async function refuseUnnamed(input: CommandInput<'json'>): Promise<void> {
  const { cwd, options, stdout } = input;
  const runs = await findRuns(resolvePath(cwd, '.'));
  if (runs.length > 0 && !options.has('json')) {
    const each = runs.map((run) => [
      ...linesOf(run),
      `  ${programName(input)} abandon ${shellQuote(asWritten(cwd, run.stateDir))} gives it up`,
    ]);
    await print(fitted(blocks(each, ''), input), stdout);
  }
  throw new ConfigurationError(
    runs.length === 0
      ? `no unfinished run in this folder: ${nameState}`
      : `${nameState}; nothing was given up`,
    { fault: 'missing' },
  );
}

async function abandon(
  input: CommandInput<ConnectionOption | 'json' | 'yes' | 'store' | 'run'>,
): Promise<number> {
  const { options, env, signal, stdout, log } = input;
  const isShared = options.has('store') || options.has('run');
  const store = isShared ? await onlySharedRun(input) : undefined;
  if (!store && input.positionals.length === 0) await refuseUnnamed(input);
  const place = store ?? onlyPath(input, nameState);
  const status = await readRunStatus(place);
  const { stateDir } = status;
  const target = await chooseTarget(options, env);
  if (target.kind === 'local' && status.service !== 'local') {
    throw new ConfigurationError(
      `the run's batches are on ${status.service}: set SLUICE_BASE_URL and SLUICE_API_KEY to delete them there`,
      { option: '--base-url', fault: 'missing' },
    );
  }
  await confirmDiscard('sluice abandon', status, {
    isAgreed: options.has('yes'),
    forgets: store !== undefined || status.retry.exports > 0,
    person: terminal(input),
    warn: (loss) => log.log(loss),
    signal,
  });
  // Batches of the in-process local service go with the directory.
  const connection =
    status.service === 'local'
      ? undefined
      : await connect(target, options, undefined, { onOutage: outageReporter(log) });
  try {
    const { deleted, left, launched, unconfirmed } = await abandonRun({
      ...(store ? { store } : { stateDir }),
      ...(connection && { client: connection.client }),
      signal,
    });
    if (options.has('json')) {
      await print(jsonText({ stateDir, deleted, left, launched, unconfirmed }), stdout);
      return exitCodes.done;
    }
    log.log(message('abandoned', { batches: deleted, state: stateDir }));
    for (const each of leftMessages(left, launched, unconfirmed)) log.log(each);
  } finally {
    await connection?.close();
  }
  return exitCodes.done;
}
