import { abandonRun, ConfigurationError, findRuns, readRunStatus } from '../../index.js';
import { shellQuote } from '../../platform/text/printable.js';
import { type CommandInput, defineCommand, programName } from '../command.js';
import { chooseTarget, connect, connectionOptions, outageReporter } from '../connect.js';
import { asWritten, resolvePath } from '../endpoints/locations.js';
import { confirmDiscard, leftMessages } from '../job/questions.js';
import { message } from '../messages/catalogue.js';
import { onlyPath } from '../options/parse-command-line.js';
import { sharedRunOptions } from '../options/store-options.js';
import { exitCodes } from '../process/exit-code.js';
import { terminal } from '../terminal/ask-person.js';
import { jsonOption, jsonText, print } from '../terminal/print.js';
import { blocks, fitted, isShared, linesOf, nameState, onlySharedRun } from './status.js';

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
  async run(input) {
    const { options, env, signal, stdout, log } = input;
    const store = isShared(options) ? await onlySharedRun(input) : undefined;
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
  },
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
