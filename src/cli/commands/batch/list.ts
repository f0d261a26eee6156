import { limits } from '../../../contract/index.js';
import { ConfigurationError } from '../../../index.js';
import {
  defineCommand,
  defineOptions,
  type ParsedOptions,
  type CommandInput,
  type NameOf,
} from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { amountOption, countOption } from '../../options/option-values.js';
import { noArguments } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print-answer.js';
import { textTable } from '../../terminal/text-table.js';
import { whereGiven } from '../../job/omit-undefined.js';
import { withService } from '../../service/with-service.js';

const { listLimit } = limits;

const listOptions = defineOptions([
  {
    name: 'limit',
    value: '<n>',
    help: `How many, at most ${listLimit.max} (default ${listLimit.default}).`,
  },
  { name: 'offset', value: '<n>', help: 'How many to leave out first (default 0).' },
  { name: 'from', value: '<date>', help: 'From that day or moment on, such as 2026-11-01.' },
  { name: 'to', value: '<date>', help: 'Up to that day or moment; a day counts to its end.' },
  jsonOption,
  ...serviceOptions,
]);

export const listCommand = defineCommand({
  name: 'batch list',
  usage: '[options]',
  summary: "List the account's batches, a page at a time.",
  options: listOptions,
  examples: ['sluice batch list', 'sluice batch list --from 2026-11-01 --limit 1000 --json'],
  run: listBatches,
});

async function listBatches(input: CommandInput<NameOf<typeof listOptions>>): Promise<number> {
  const { options, positionals, signal } = input;
  noArguments('batch list', positionals);
  const query = whereGiven({
    limit: limitOption(options),
    offset: offsetOption(options),
    from_date: dateOption(options, 'from', '00:00:00.000'),
    to_date: dateOption(options, 'to', '23:59:59.999'),
  });
  const batches = await withService(input, (client) => client.listBatches(query, { signal }));
  await printAnswer(input, batches, () =>
    batches.length === 0
      ? 'no batches\n'
      : textTable([
          ['BATCH', 'STATUS', 'CREATED', 'NAME'],
          ...batches.map(({ batch_uuid, status, created_at, name }) => [
            batch_uuid,
            status,
            created_at,
            name,
          ]),
        ]),
  );
  return exitCodes.done;
}

function limitOption(options: ParsedOptions<'limit'>): number | undefined {
  const limit = countOption(options, 'limit');
  if (limit === undefined || limit <= listLimit.max) return limit;
  throw new ConfigurationError(`--limit is at most ${listLimit.max}: go on with --offset`);
}

function offsetOption(options: ParsedOptions<'offset'>): number | undefined {
  const offset = amountOption(options, 'offset');
  if (offset === undefined || Number.isSafeInteger(offset)) return offset;
  throw new ConfigurationError('--offset must be a whole number of 0 or more');
}

/** A day, in universal time, or a moment. */
function dateOption(
  options: ParsedOptions<'from' | 'to'>,
  name: 'from' | 'to',
  timeOfDay: string,
): string | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const date = new Date(isDay ? `${text}T${timeOfDay}Z` : text);
  if ((isDay || isMoment) && !Number.isNaN(date.getTime())) return date.toISOString();
  throw new ConfigurationError(
    `--${name} takes a day such as 2026-11-01, or a moment such as 2026-11-01T12:00:00Z, not ${JSON.stringify(text)}`,
  );
}
