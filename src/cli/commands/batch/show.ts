import type { Client } from '../../../index.js';
import { defineCommand, type CommandInput } from '../../command.js';
import { serviceOptions, type ServiceOption } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { fieldsText } from '../../messages/fields-text.js';
import { onlyBatch } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { withService } from '../../service/with-service.js';

const uuid = '0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10';

export const statusCommand = defineCommand({
  name: 'batch status',
  usage: '<batch_uuid> [options]',
  summary: 'Show the status of a batch, and what it has cost.',
  options: [jsonOption, ...serviceOptions],
  examples: [`sluice batch status ${uuid}`],
  run: async (input) => show(input, (client, batch) => client.batchStatus(batch, input)),
});

export const detailsCommand = defineCommand({
  name: 'batch details',
  usage: '<batch_uuid> [options]',
  summary: 'Show all that the service knows of a batch; it may tell addresses, too.',
  options: [jsonOption, ...serviceOptions],
  examples: [`sluice batch details ${uuid} --json`],
  run: async (input) => show(input, (client, batch) => client.batchDetails(batch, input)),
});

async function show(
  input: CommandInput<ServiceOption | 'json'>,
  ask: (client: Client, batch: string) => Promise<unknown>,
): Promise<number> {
  const batch = onlyBatch(input);
  const answer = await withService(input, (client) => ask(client, batch));
  await printAnswer(input, answer, () => fieldsText(answer));
  return exitCodes.done;
}
