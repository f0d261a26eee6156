import { ConfigurationError } from '../../index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { print, say } from '../terminal/print.js';
import { programName } from '../program-name.js';
import { text } from '../options/option-types.js';
import { storeUrlOf } from '../options/store-options.js';

export const storeCommand = defineCommand({
  name: 'store',
  usage: 'create (--store <url> | --print)',
  summary: 'Make what --store needs in a database, or print the SQL that makes it.',
  words: ['create'],
  options: [
    {
      name: 'store',
      type: text('<url>'),
      help: 'The PostgreSQL database; env:NAME takes the URL from the environment.',
    },
    { name: 'print', help: 'Print the SQL, and connect to nothing.' },
  ],
  examples: [
    'sluice store create --store env:SLUICE_STORE',
    'sluice store create --print > store.sql',
  ],
  run: onStore,
});

async function onStore(input: CommandInput<'store' | 'print'>): Promise<number> {
  const { positionals, options, stdout, stderr } = input;
  const [action, ...more] = positionals;
  if (action !== 'create' || more.length > 0) {
    throw new ConfigurationError(
      `say ${programName(input)} store create --store <url>, or with --print`,
    );
  }
  const { createPostgresStore, postgresStoreSql } =
    await import('../../lists/sql/postgres/index.js');
  if (options.has('print')) {
    await print(postgresStoreSql(), stdout);
    return exitCodes.done;
  }
  await createPostgresStore({ connectionString: storeUrlOf(options, input) });
  say('sluice: the store is there: the schema sluice', stderr);
  return exitCodes.done;
}
