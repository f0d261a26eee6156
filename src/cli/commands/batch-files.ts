import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import * as z from 'zod';
import {
  uploadedBatch,
  type UploadAnswer,
  type FormatAnswer,
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
  programName,
  type Called,
} from '../command.js';
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
import {
  serviceOptions,
  singleConnectionOptions,
  withAnyService,
  withService,
} from '../connect.js';
import { fieldsText, textTable } from '../terminal/text-table.js';
import { message } from '../messages/catalogue.js';
import { jsonOption, printAnswer, printBytes, printJson } from '../terminal/print.js';
import { openLineFile } from './line-file.js';

export const uploadCommand = defineCommand({
  name: 'batch upload',
  usage: '<file.txt> --type <type> --country <CC> [options]',
  summary: 'Upload a file of addresses, one a line, as a batch; it costs nothing.',
  options: [
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
  ],
  examples: [
    'sluice batch upload emails.txt --type email --country US',
    'sluice batch upload phones.txt --type phone --country DE --name leads --json',
  ],
  async run(input) {
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
  },
});

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
  async run(input) {
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
  },
});

/** Bytes that may stand around JSON; a byte-order mark, too. */
const blank: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** The bytes of an export. Throws for a proxy's page; where no length is given, only the end shows that it was cut. */
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

export const formatCommand = defineCommand({
  name: 'format',
  usage: '<file.txt> --type <type> --country <CC> [options]',
  summary: 'Normalize the format of addresses, one a line; it costs nothing.',
  options: [typeOption, countryOption, jsonOption, ...singleConnectionOptions],
  examples: [
    'sluice format phones.txt --type phone --country US --local',
    'sluice format phones.txt --type phone --country US --local --json',
  ],
  async run(input) {
    const { options, signal } = input;
    const path = onlyPath(input, 'name one file that holds an address on each line');
    const form = { type: readType(options), target_country: readCountry(options) };
    const file = await openLineFile(path);
    const answer = await withAnyService(input, (client) =>
      client.format({ ...form, file }, { signal }),
    );
    await printAnswer(input, answer, () => describeFormat(answer));
    return troubled.safeParse(answer).success ? exitCodes.someFailed : exitCodes.done;
  },
});

/** The specification shows nothing of the answer: this is the local service's; others are shown unchanged. */
const pairs = z.looseObject({
  results: z.array(z.looseObject({ input: z.string(), formatted: z.string().nullable() })),
});

function describeFormat(answer: FormatAnswer): string {
  const parsed = pairs.safeParse(answer);
  if (!parsed.success) return fieldsText(answer);
  return textTable(parsed.data.results.map(({ input, formatted }) => [input, formatted ?? '-']));
}

/** A problem of the outcome is in the field `status` of a 200 (spec 7). */
const troubled = z.looseObject({ status: z.enum(['error', 'parse_error', 'empty']) });
