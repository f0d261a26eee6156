import { abandonRun, ConfigurationError, readRunStatus } from '../../index.js';
import { terminal } from '../terminal/ask-person.js';
import { defineCommand, type CommandInput } from '../command.js';
import {
  chooseTarget,
  connect,
  outageReporter,
  connectionOptions,
  type ConnectionOption,
} from '../connect.js';
import { exitCodes } from '../process/exit-code.js';
import { confirmDiscard, leftMessages } from '../job/confirm-discard.js';
import { print, jsonOption } from '../terminal/print.js';
import { sharedRunOptions } from '../options/store-options.js';
import { message } from '../messages/message.js';
import { onlySharedRun, onlyStateDirectory } from './status.js';

export const abandonCommand = defineCommand({
  name: 'abandon',
  usage: '(<state> | --store <url> --run <name>)',
  summary: 'Give an unfinished run up: delete its unlaunched batches and its state directory.',
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

async function abandon(
  input: CommandInput<ConnectionOption | 'json' | 'yes' | 'store' | 'run'>,
): Promise<number> {
  const { options, env, signal, stdout, log } = input;
  const isShared = options.has('store') || options.has('run');
  const store = isShared ? await onlySharedRun(input) : undefined;
  const place = store ?? onlyStateDirectory(input);
  const status = await readRunStatus(place);
  const { stateDir } = status;
  const target = await chooseTarget(options, env);
  if (target.kind === 'local' && status.service !== 'local') {
    throw new ConfigurationError(
      `the run's batches are on ${status.service}: set SLUICE_BASE_URL and SLUICE_API_KEY to delete them there`,
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
    const { deleted, left, launched } = await abandonRun({
      ...(store ? { store } : { stateDir }),
      ...(connection && { client: connection.client }),
      signal,
    });
    if (options.has('json')) {
      await print(
        `${JSON.stringify({ stateDir, deleted, left, launched }, undefined, 2)}\n`,
        stdout,
      );
      return exitCodes.done;
    }
    log.log(message('abandoned', { batches: deleted, state: stateDir }));
    for (const each of leftMessages(left, launched)) log.log(each);
  } finally {
    await connection?.close();
  }
  return exitCodes.done;
}
