import { ConfigurationError } from '../../../index.js';
import { defineCommand, type CommandInput } from '../../command.js';
import { serviceOptions, type ServiceOption } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { parseUuid } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { programName } from '../../program-name.js';
import { withService } from '../../service/with-service.js';

export const deleteCommand = defineCommand({
  name: 'batch delete',
  usage: '<batch_uuid>... [options]',
  summary: 'Delete batches and their results from the service.',
  options: [jsonOption, ...serviceOptions],
  examples: ['sluice batch delete 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10'],
  run: deleteBatches,
});

async function deleteBatches(input: CommandInput<ServiceOption | 'json'>): Promise<number> {
  const { positionals } = input;
  if (positionals.length === 0) {
    throw new ConfigurationError(
      `name the batches by their uuids, as ${programName(input)} batch list shows them`,
    );
  }
  const batches = [...new Set(positionals.map((text) => parseUuid(text, input)))];
  const deleted: string[] = [];
  try {
    await withService(input, async (client) => {
      for (const batch of batches) {
        await client.deleteBatch(batch, input);
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
}
