import { limits, type LaunchAnswer } from '../../contract/index.js';
import { type CallOptions, type Client, ConfigurationError } from '../../index.js';
import { printableLine } from '../../platform/text/printable.js';
import {
  type Called,
  defineCommand,
  type Command,
  defineOptions,
  programName,
} from '../command.js';
import { exitCodes } from '../process/exit-code.js';
import { fieldsText, textTable } from '../terminal/text-table.js';
import {
  countryOption,
  readCountry,
  readType,
  typeOption,
  parameterOptions,
  readParameters,
} from '../options/batch-options.js';
import { count, date, whole } from '../options/option-types.js';
import { noArguments, onlyBatch, parseUuid } from '../options/parse-command-line.js';
import { askPaid, serviceOptions, withService } from '../connect.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { exportCommand, uploadCommand } from './batch-files.js';

const { listLimit } = limits;
const someUuid = '0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10';

const queryOptions = defineOptions([
  {
    name: 'limit',
    type: count('<n>', listLimit),
    help: `How many, at most ${listLimit.max} (default: ${listLimit.default}).`,
  },
  { name: 'offset', type: whole(), help: 'How many to skip (default: 0).' },
  {
    name: 'from',
    library: 'from_date',
    type: date('00:00:00.000'),
    help: 'From that day or moment on, such as 2026-11-01.',
  },
  {
    name: 'to',
    library: 'to_date',
    type: date('23:59:59.999'),
    help: 'Up to that day or moment; a day counts to its end.',
  },
]);

const listCommand = defineCommand({
  name: 'batch list',
  usage: '[options]',
  summary: "List the account's batches, a page at a time.",
  options: [...queryOptions, jsonOption, ...serviceOptions],
  examples: ['sluice batch list', 'sluice batch list --from 2026-11-01 --limit 1000 --json'],
  async run(input) {
    const { options, positionals, signal } = input;
    noArguments('batch list', positionals);
    const query = options.libraryValues(queryOptions);
    const batches = await withService(input, (client) => client.listBatches(query, { signal }));
    await printAnswer(input, batches, () =>
      batches.length === 0
        ? 'no batches\n'
        : textTable([
            ['BATCH', 'STATUS', 'CREATED', 'NAME'],
            ...batches.map((each) => [each.batch_uuid, each.status, each.created_at, each.name]),
          ]),
    );
    return exitCodes.done;
  },
});

function oneBatchCommand<Answer>({
  what,
  summary,
  flags = '',
  ask,
  isPaid = false,
  textOf,
  isDone = () => true,
}: {
  readonly what: string;
  readonly summary: string;
  readonly flags?: string;
  readonly ask: (client: Client, ...of: [batch: string, options: CallOptions]) => Promise<Answer>;
  readonly isPaid?: boolean;
  readonly textOf: (answer: Answer, batch: string, called: Called) => string;
  readonly isDone?: (answer: Answer) => boolean;
}): Command {
  return defineCommand({
    name: `batch ${what}`,
    usage: '<batch_uuid> [options]',
    summary,
    options: [jsonOption, ...serviceOptions],
    examples: [`sluice batch ${what} ${someUuid}${flags}`],
    run: async (input) => {
      const batch = onlyBatch(input);
      const { signal } = input;
      const answer = await withService(input, (client) =>
        isPaid
          ? askPaid(input, 'launchBatch', (call) => ask(client, batch, call))
          : ask(client, batch, { signal }),
      );
      await printAnswer(input, answer, () => textOf(answer, batch, input));
      return isDone(answer) ? exitCodes.done : exitCodes.serviceFailing;
    },
  });
}

const statusCommand = oneBatchCommand({
  what: 'status',
  summary: 'Show the status of a batch, and what it has cost.',
  ask: (client, ...of) => client.batchStatus(...of),
  textOf: fieldsText,
});

const detailsCommand = oneBatchCommand({
  what: 'details',
  summary: 'Show all that the service knows of a batch; it may contain addresses.',
  flags: ' --json',
  ask: (client, ...of) => client.batchDetails(...of),
  textOf: fieldsText,
});

const updateCommand = defineCommand({
  name: 'batch update',
  usage: '<batch_uuid> --type <type> --country <CC> [options]',
  summary: "Replace a batch's parameters, all of them; then it has to be prepared again.",
  options: [typeOption, countryOption, ...parameterOptions, jsonOption, ...serviceOptions],
  examples: [`sluice batch update ${someUuid} --type email --country DE --no-global-cache`],
  run: async (input) => {
    const { options, signal } = input;
    const batch = onlyBatch(input);
    const parameters = {
      ...readParameters(options),
      type: readType(options),
      target_country: readCountry(options),
    };
    const answer = await withService(input, (client) =>
      client.updateBatch(batch, parameters, { signal }),
    );
    await printAnswer(input, answer, () => `${batch} is updated: prepare it again\n`);
    return exitCodes.done;
  },
});

const prepareCommand = oneBatchCommand({
  what: 'prepare',
  summary: 'Have a batch parsed and prepared; it costs nothing and may be repeated.',
  ask: (client, ...of) => client.prepareBatch(...of),
  textOf: ({ status }, batch, called) =>
    status === 'ok'
      ? `${batch} is being prepared: launch it when ${programName(called)} batch status says ready_for_verification\n`
      : `${batch} was not prepared: ${printableLine(status)}\n`,
  isDone: ({ status }) => status === 'ok',
});

const launchCommand = oneBatchCommand({
  what: 'launch',
  summary:
    'Launch a batch: from here on it is paid for. One that is launched is not launched again.',
  ask: (client, ...of) => client.launchBatch(...of),
  isPaid: true,
  textOf: (answer, batch) => `${batch} ${describe(answer)}\n`,
  // It runs, or has run already (spec 3, rule 3): the launch has its effect.
  isDone: ({ status }) =>
    ['ok', 'verification_already_ongoing', 'verification_already_done'].includes(status),
});

function describe({ status }: LaunchAnswer): string {
  switch (status) {
    case 'ok':
      return 'is launched';
    case 'verification_already_ongoing':
      return 'was launched before, and is being verified';
    case 'verification_already_done':
      return 'was launched before, and is done';
    case 'not_ready_for_verification':
      return 'is not ready: prepare it, and wait until its status is ready_for_verification';
    default:
      return `was not launched: ${printableLine(status)}`;
  }
}

const deleteCommand = defineCommand({
  name: 'batch delete',
  usage: '<batch_uuid>... [options]',
  summary: 'Delete batches and their results from the service.',
  options: [jsonOption, ...serviceOptions],
  examples: [`sluice batch delete ${someUuid}`],
  async run(input) {
    const { positionals } = input;
    if (positionals.length === 0) {
      throw new ConfigurationError(
        `name the batches by their uuids, as ${programName(input)} batch list shows them`,
        { fault: 'missing' },
      );
    }
    const batches = [...new Set(positionals.map((text) => parseUuid(text, input)))];
    const deleted: string[] = [];
    try {
      await withService(input, async (client) => {
        for (const batch of batches) {
          await client.deleteBatch(batch, { signal: input.signal });
          deleted.push(batch);
        }
      });
    } finally {
      // Those before the one that could not be deleted are gone.
      await printAnswer(input, { deleted }, () =>
        deleted.map((uuid) => `${uuid} is deleted\n`).join(''),
      );
    }
    return exitCodes.done;
  },
});

const subcommands: readonly Command[] = [
  listCommand,
  uploadCommand,
  statusCommand,
  detailsCommand,
  updateCommand,
  prepareCommand,
  launchCommand,
  exportCommand,
  deleteCommand,
];

export const batchCommand = defineCommand({
  name: 'batch',
  usage: '<what> [options]',
  summary: 'Work with single batches on the service, by hand.',
  options: [],
  subcommands,
  examples: [
    'sluice batch upload emails.txt --type email --country US',
    'sluice batch list --limit 10',
  ],
  run: async () => {
    const names = subcommands.map(({ name }) => name.split(' ').at(-1));
    throw new ConfigurationError(`say what to do with a batch: ${names.join(', ')}`, {
      fault: 'missing',
    });
  },
});
