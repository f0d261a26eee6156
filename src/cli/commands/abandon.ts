import { abandonRun, ConfigurationError, readRunStatus } from '../../index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { chooseTarget, connect, connectionOptions, type ConnectionOption } from '../connect.js';
import { exitCodes } from '../exit-code.js';
import { print, say } from '../print.js';
import { jsonOption } from '../print-answer.js';
import { sharedRunOptions } from '../store-options.js';
import { onlySharedRun, onlyStateDirectory } from './status.js';
import { counted } from '../../words/shown-numbers.js';

export const abandonCommand = defineCommand({
  name: 'abandon',
  usage: '(<state> | --store <url> --run <name>)',
  summary: 'Give an unfinished run up: delete its unlaunched batches and its state directory.',
  options: [jsonOption, ...sharedRunOptions, ...connectionOptions],
  examples: [
    'sluice abandon verified.csv.sluice',
    'sluice abandon --store env:SLUICE_STORE --run contacts-2026-11-22',
  ],
  run: abandon,
});

async function abandon(
  input: CommandInput<ConnectionOption | 'json' | 'store' | 'run'>,
): Promise<number> {
  const { options, positionals, environment, signal } = input;
  const isShared = options.has('store') || options.has('run');
  const store = isShared ? await onlySharedRun(positionals, options, environment) : undefined;
  const place = store ?? onlyStateDirectory(positionals);
  const status = await readRunStatus(place);
  const { stateDir } = status;
  const target = await chooseTarget(options, environment);
  if (target.kind === 'local' && status.service !== 'local') {
    throw new ConfigurationError(
      `the run's batches are on ${status.service}: set SLUICE_BASE_URL and SLUICE_API_KEY to delete them there`,
    );
  }
  // Batches of the in-process local service go with the directory.
  const connection =
    status.service === 'local' ? undefined : await connect(target, options, undefined);
  try {
    const { deleted, left, launched } = await abandonRun({
      ...(store ? { store } : { stateDir }),
      ...(connection && { client: connection.client }),
      signal,
    });
    if (options.has('json')) {
      await print(`${JSON.stringify({ stateDir, deleted, left, launched }, undefined, 2)}\n`);
      return exitCodes.done;
    }
    say(`sluice: deleted ${counted(deleted, 'batch')} and ${stateDir}`);
    if (left.length > 0) {
      say(`sluice: still on the service: ${left.join(', ')}`);
    }
    if (launched.length > 0) say(`sluice: ${launchedLine(launched)}`);
  } finally {
    await connection?.close();
  }
  return exitCodes.done;
}

/** What is said of batches that were paid for and whose results were not fetched. */
export function launchedLine(names: readonly string[]): string {
  return `launched and paid, so not deleted from the service: ${names.join(', ')}`;
}
