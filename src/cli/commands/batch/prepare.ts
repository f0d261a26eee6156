import { defineCommand } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { onlyBatch } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { printableLine } from '../../../platform/text/printable.js';
import { programName } from '../../program-name.js';
import { withService } from '../../service/with-service.js';

export const prepareCommand = defineCommand({
  name: 'batch prepare',
  usage: '<batch_uuid> [options]',
  summary: 'Have a batch parsed and prepared; it costs nothing and may be repeated.',
  options: [jsonOption, ...serviceOptions],
  examples: ['sluice batch prepare 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10'],
  run: async (input) => {
    const batch = onlyBatch(input);
    const answer = await withService(input, (client) => client.prepareBatch(batch, input));
    const isTaken = answer.status === 'ok';
    await printAnswer(input, answer, () =>
      isTaken
        ? `${batch} is being prepared: launch it when ${programName(input)} batch status says ready_for_verification\n`
        : `${batch} was not prepared: ${printableLine(answer.status)}\n`,
    );
    return isTaken ? exitCodes.done : exitCodes.serviceFailing;
  },
});
