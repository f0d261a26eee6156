import { defineCommand, type CommandInput } from '../command.js';
import { serviceOptions, type ServiceOption } from '../service/connect.js';
import { exitCodes } from '../exit-code.js';
import { noArguments } from '../options/positionals.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { textTable } from '../terminal/text-table.js';
import { withService } from '../service/with-service.js';
import { grouped } from '../../platform/text/shown-numbers.js';

export const creditsCommand = defineCommand({
  name: 'credits',
  usage: '[options]',
  summary: "Show the account's credits.",
  options: [jsonOption, ...serviceOptions],
  examples: ['sluice credits', 'sluice credits --json'],
  run: showCredits,
});

async function showCredits(input: CommandInput<ServiceOption | 'json'>): Promise<number> {
  noArguments('credits', input.positionals);
  const balance = await withService(input, (client) => client.credits({ signal: input.signal }));
  await printAnswer(input, balance, () =>
    textTable([
      ['email credits', grouped(balance.email_credit)],
      ['phone credits', grouped(balance.phone_credit)],
    ]),
  );
  return exitCodes.done;
}
