import type { LaunchAnswer } from '../../../contract/index.js';
import { defineCommand } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { onlyBatch } from '../../options/positionals.js';
import { jsonOption, printAnswer } from '../../terminal/print.js';
import { printableLine } from '../../../platform/text/printable.js';
import { withService } from '../../service/with-service.js';

export const launchCommand = defineCommand({
  name: 'batch launch',
  usage: '<batch_uuid> [options]',
  summary:
    'Launch a batch: from here on it is paid for. One that is launched is not launched again.',
  options: [jsonOption, ...serviceOptions],
  examples: ['sluice batch launch 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10'],
  run: async (input) => {
    const batch = onlyBatch(input);
    const answer = await withService(input, (client) => client.launchBatch(batch, input));
    await printAnswer(input, answer, () => `${batch} ${describe(answer)}\n`);
    return isLaunched(answer) ? exitCodes.done : exitCodes.serviceFailing;
  },
});

/** That it runs or has run already is what was wanted (spec 3, rule 3). */
function isLaunched({ status }: LaunchAnswer): boolean {
  return ['ok', 'verification_already_ongoing', 'verification_already_done'].includes(status);
}

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
