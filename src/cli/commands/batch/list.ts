import { limits } from '../../../contract/index.js';
import { defineCommand, defineOptions, type CommandInput, type NameOf } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { count, date, whole } from '../../options/option-types.js';
import { noArguments } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';
import { withService } from '../../service/with-service.js';

const { listLimit } = limits;

/** Of the service's own list. */
const queryOptions = defineOptions([
  {
    name: 'limit',
    type: count('<n>', listLimit),
    help: `How many, at most ${listLimit.max} (default ${listLimit.default}).`,
  },
  { name: 'offset', type: whole(), help: 'How many to leave out first (default 0).' },
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

const listOptions = defineOptions([...queryOptions, jsonOption, ...serviceOptions]);

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
  const query = options.libraryValues(queryOptions);
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
