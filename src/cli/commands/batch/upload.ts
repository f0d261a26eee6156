import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { uploadedBatch, type UploadAnswer } from '../../../contract/index.js';
import { isSluiceError } from '../../../index.js';
import { defineCommand, defineOptions, type CommandInput, type NameOf } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import {
  countryOption,
  readCountry,
  readType,
  typeOption,
  batchSettings,
  descriptionOption,
  parameterOptions,
} from '../../options/batch-options.js';
import { text } from '../../options/option-types.js';
import { openLineFile } from '../../endpoints/line-file.js';
import { onlyPath } from '../../options/positionals.js';
import { jsonOption, printAnswer, say } from '../../terminal/print.js';
import { printableLine } from '../../../platform/text/printable.js';
import { programName, type Called } from '../../program-name.js';
import { withService } from '../../service/with-service.js';

const uploadOptions = defineOptions([
  typeOption,
  countryOption,
  {
    name: 'name',
    type: text('<text>'),
    help: "The batch's name (default: the file's, made unique).",
  },
  { ...descriptionOption, help: "The batch's description." },
  ...parameterOptions,
  jsonOption,
  ...serviceOptions,
]);

export const uploadCommand = defineCommand({
  name: 'batch upload',
  usage: '<file.txt> --type <type> --country <CC> [options]',
  summary: 'Upload a file of addresses, one a line, as a batch; it costs nothing.',
  options: uploadOptions,
  examples: [
    'sluice batch upload emails.txt --type email --country US',
    'sluice batch upload phones.txt --type phone --country DE --name leads --json',
  ],
  run: upload,
});

async function upload(input: CommandInput<NameOf<typeof uploadOptions>>): Promise<number> {
  const { options, signal } = input;
  const path = onlyPath(input, 'name one file that holds an address on each line');
  const group = { type: readType(options), target_country: readCountry(options) };
  const name = options.text('name') ?? uniqueName(path);
  const settings = batchSettings(options);
  const file = await openLineFile(path);
  const answer = await withService(input, async (client) => {
    try {
      return await client.uploadBatch({ ...settings, ...group, name, file }, { signal });
    } catch (error) {
      sayWhetherItArrived(error, name, input);
      throw error;
    }
  });
  const isTaken = answer.status === 'ok';
  await printAnswer(input, answer, () => describe(answer, name, input));
  return isTaken ? exitCodes.done : exitCodes.serviceFailing;
}

/** The service may take one name twice: then nothing tells two uploads apart. */
function uniqueName(path: string): string {
  const ending = randomBytes(4).toString('hex');
  return `${basename(path).slice(0, 200)}-${ending}`;
}

function describe(answer: UploadAnswer, name: string, input: Called): string {
  if (answer.status !== 'ok')
    return `the service did not take it: ${printableLine(answer.status)}\n`;
  const named = uploadedBatch.safeParse(answer);
  if (named.success) return `${printableLine(named.data.batch_uuid)}\n`;
  return `uploaded; the service did not say under which uuid: ${programName(input)} batch list shows it as ${printableLine(name)}\n`;
}

function sayWhetherItArrived(
  error: unknown,
  name: string,
  input: Called & Pick<CommandInput, 'stderr'>,
): void {
  if (!isSluiceError(error, 'connection_lost') && !isSluiceError(error, 'request_timeout')) return;
  say(
    `sluice: it may have arrived: look for ${name} with ${programName(input)} batch list before you repeat it`,
    input.stderr,
  );
}
