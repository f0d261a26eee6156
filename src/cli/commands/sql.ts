import { ConfigurationError, loadStatement, loadTargets } from '../../index.js';
import { defineCommand, defineOptions, programName } from '../command.js';
import { unlessStopped } from '../connect.js';
import { exitCodes } from '../process/exit-code.js';
import { text, choice } from '../options/option-types.js';
import { onlyPath } from '../options/parse-command-line.js';
import { storeOption, storeUrlOf } from '../options/store-options.js';
import { message } from '../messages/catalogue.js';
import { print } from '../terminal/print.js';

export const storeCommand = defineCommand({
  name: 'store',
  usage: 'create (--store <url> | --print)',
  summary: 'Create what --store needs in a database, or print the SQL for it.',
  words: ['create'],
  options: [storeOption, { name: 'print', help: 'Print the SQL, and connect to nothing.' }],
  examples: [
    'sluice store create --store env:SLUICE_STORE',
    'sluice store create --print > store.sql',
  ],
  async run(input) {
    const { positionals, options, stdout, log, signal } = input;
    const [action, ...more] = positionals;
    if (action !== 'create' || more.length > 0) {
      throw new ConfigurationError(
        `use ${programName(input)} store create --store <url>, or --print`,
        { fault: 'missing' },
      );
    }
    const { createPostgresStore, postgresStoreSql } =
      await import('../../lists/sql/postgres/index.js');
    if (options.has('print')) {
      await print(postgresStoreSql(), stdout);
      return exitCodes.done;
    }
    const created = createPostgresStore({ connectionString: storeUrlOf(options, input) });
    await unlessStopped(created, signal);
    log.log(message('store_created', { schema: 'sluice' }));
    return exitCodes.done;
  },
});

const loadOptions = defineOptions([
  {
    name: 'for',
    type: choice('<target>', loadTargets),
    help: `Where the parts are loaded: ${loadTargets.join(', ')}.`,
  },
  {
    name: 'table',
    type: text('<name>'),
    help: "Table, such as crm.contacts (default: the folder's name).",
  },
  {
    name: 'quote-names',
    help: 'Names in quotes, with their case, for Snowflake, where plain ones are upper case (the others quote all).',
  },
  {
    name: 'key',
    type: text('<column>'),
    help: 'Merge into a table by this column: rows with the same value are updated, others inserted (default: a new table).',
  },
  {
    name: 'from',
    type: text('<place>'),
    help: 'Where the target finds the parts: @stage/path/, s3://bucket/path/, gs://bucket/path/ (default: the folder, where it can read one).',
  },
]);

export const loadStatementCommand = defineCommand({
  name: 'load-statement',
  usage: '<folder> --for <target> [options]',
  summary: 'Print the SQL that creates a table and loads a folder of parts (--part-size).',
  options: loadOptions,
  examples: [
    'sluice load-statement verified/ --for snowflake --table crm.contacts --from @my_stage/verified/',
    'sluice load-statement verified/ --for bigquery --table crm.contacts --from gs://bucket/verified/',
    'sluice load-statement verified/ --for postgres | psql crm',
    'sluice load-statement verified/ --for duckdb --table contacts --key id | duckdb crm.db',
  ],
  async run(input) {
    const { options, stdout } = input;
    const folder = onlyPath(input, 'name one folder of parts');
    const { for: target, ...form } = options.libraryValues(loadOptions);
    if (target === undefined) {
      throw new ConfigurationError(
        `name where the parts are loaded: --for ${loadTargets.join(', ')}`,
        { option: '--for', fault: 'missing' },
      );
    }
    await print(await loadStatement(folder, { for: target, ...form }), stdout);
    return exitCodes.done;
  },
});
