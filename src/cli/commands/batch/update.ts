import { defineCommand } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import {
  countryOption,
  readCountry,
  readType,
  typeOption,
  parameterOptions,
  readParameters,
} from '../../options/batch-options.js';
import { onlyBatch } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { withService } from '../../service/with-service.js';

export const updateCommand = defineCommand({
  name: 'batch update',
  usage: '<batch_uuid> --type <type> --country <CC> [options]',
  summary: "Replace a batch's parameters, all of them; then it has to be prepared again.",
  options: [typeOption, countryOption, ...parameterOptions, jsonOption, ...serviceOptions],
  examples: [
    'sluice batch update 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10 --type email --country DE --no-global-cache',
  ],
  run: async (input) => {
    const { options } = input;
    const batch = onlyBatch(input);
    const parameters = {
      ...readParameters(options),
      type: readType(options),
      target_country: readCountry(options),
    };
    const answer = await withService(input, (client) =>
      client.updateBatch(batch, parameters, input),
    );
    await printAnswer(input, answer, () => `${batch} is updated: prepare it again\n`);
    return exitCodes.done;
  },
});
