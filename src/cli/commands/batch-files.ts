import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import {
  uploadedBatch,
  type UploadAnswer,
  exportFormats,
  type ExportFormat,
} from '../../contract/index.js';
import { ContractError, isSluiceError } from '../../index.js';
import { checkOutputPath } from '../../lists/files/outputs/output-path.js';
import { writeOutputFile } from '../../lists/files/outputs/output-file.js';
import { printableLine } from '../../platform/text/printable.js';
import {
  defineCommand,
  defineOptions,
  type CommandInput,
  type NameOf,
  programName,
  type Called,
} from '../command.js';
import { openLineFile } from '../endpoints/line-file.js';
import { standard } from '../endpoints/locations.js';
import { exitCodes } from '../process/exit-code.js';
import {
  countryOption,
  readCountry,
  readType,
  typeOption,
  batchSettings,
  descriptionOption,
  parameterOptions,
} from '../options/batch-options.js';
import { text, choice, path } from '../options/option-types.js';
import { onlyPath, onlyBatch } from '../options/parse-command-line.js';
import { serviceOptions, withService } from '../connect.js';
import { message } from '../messages/message.js';
import { jsonOption, printAnswer, printBytes, printJson } from '../terminal/print.js';

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
      reportArrival(error, name, input);
      throw error;
    }
  });
  const isTaken = answer.status === 'ok';
  await printAnswer(input, answer, () => describe(answer, name, input));
  return isTaken ? exitCodes.done : exitCodes.serviceFailing;
}

/** The service accepts one name twice: then nothing distinguishes two uploads. */
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

function reportArrival(error: unknown, name: string, input: CommandInput<never>): void {
  if (!isSluiceError(error, 'connection_lost') && !isSluiceError(error, 'request_timeout')) return;
  input.log.log(message('upload_in_doubt', { name, program: programName(input) }));
}

const exportOptions = defineOptions([
  {
    name: 'output',
    short: 'o',
    type: path('<path>'),
    help: 'Where the results go (default: -, standard output).',
  },
  {
    name: 'format',
    type: choice('<format>', exportFormats),
    help: "json or xlsx (default: by the output's ending, else json).",
  },
  { name: 'details', help: 'Include the section of details.' },
  { name: 'statistics', help: 'Include the section of statistics.' },
  ...serviceOptions,
]);

export const exportCommand = defineCommand({
  name: 'batch export',
  usage: '<batch_uuid> [-o <path>] [options]',
  summary: "Fetch a batch's results as the service gives them; it costs nothing.",
  options: exportOptions,
  examples: [
    'sluice batch export 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10 -o results.json',
    'sluice batch export 0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10 --details --statistics -o results.xlsx',
  ],
  run: exportBatch,
});

async function exportBatch(input: CommandInput<NameOf<typeof exportOptions>>): Promise<number> {
  const { options, signal, stdout } = input;
  const batch = onlyBatch(input);
  const output = options.text('output') ?? standard;
  if (output !== standard) await checkOutputPath(output);
  const query = {
    format: options.values(exportOptions).format ?? formatOf(output),
    include_details: options.has('details'),
    include_statistics: options.has('statistics'),
  };
  await withService(input, async (client) => {
    const answer = await client.exportBatch(batch, query, { signal });
    const body = wholeExport(answer.body, query.format);
    if (output !== standard) await writeOutputFile(output, body);
    else await (query.format === 'json' ? printJson(body, stdout) : printBytes(body, stdout));
  });
  return exitCodes.done;
}

/** Bytes that may stand around JSON; a byte-order mark, too. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/**
 * The bytes of an export. Throws for what cannot be one, such as a proxy's page; where no length is given,
 * only the end shows that it was cut.
 */
async function* wholeExport(
  bytes: AsyncIterable<Uint8Array>,
  format: ExportFormat,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [begin, end] = (format === 'json' ? '{}' : 'P').split('').map((sign) => sign.charCodeAt(0));
  const odd = (what: string): ContractError =>
    new ContractError(`the export of the service is ${what}`, { operation: 'exportBatch' });
  let first: number | undefined;
  let last: number | undefined;
  for await (const piece of bytes) {
    const isSign = (byte: number): boolean => !blank.has(byte);
    first ??= piece.find(isSign);
    last = piece.findLast(isSign) ?? last;
    if (first !== undefined && first !== begin) {
      throw odd(format === 'json' ? 'not a JSON object' : 'not a spreadsheet');
    }
    yield piece;
  }
  if (first === undefined) throw odd('empty');
  if (end !== undefined && last !== end) throw odd('cut short');
}

function formatOf(output: string): ExportFormat {
  return output.toLowerCase().endsWith('.xlsx') ? 'xlsx' : 'json';
}
