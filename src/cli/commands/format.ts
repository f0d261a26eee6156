import * as z from 'zod';
import type { FormatAnswer } from '../../contract/index.js';
import { defineCommand, type CommandInput } from '../command.js';
import { connectionOptions, type ConnectionOption } from '../service/connect.js';
import { exitCodes } from '../exit-code.js';
import { fieldsText } from '../messages/fields-text.js';
import { countryOption, readCountry, readType, typeOption } from '../options/batch-options.js';
import { openLineFile } from '../endpoints/line-file.js';
import { onlyPath } from '../options/positionals.js';
import { jsonOption, printAnswer } from '../terminal/print.js';
import { textTable } from '../terminal/text-table.js';
import { withAnyService } from '../service/with-service.js';

export const formatCommand = defineCommand({
  name: 'format',
  usage: '<file.txt> --type <type> --country <CC> [options]',
  summary: 'Have the format of addresses normalized, one a line; it costs nothing.',
  options: [typeOption, countryOption, jsonOption, ...connectionOptions],
  examples: [
    'sluice format phones.txt --type phone --country US --local',
    'sluice format phones.txt --type phone --country US --local --json',
  ],
  run: formatFile,
});

async function formatFile(
  input: CommandInput<ConnectionOption | 'type' | 'country' | 'json'>,
): Promise<number> {
  const { options, signal } = input;
  const path = onlyPath(input, 'name one file that holds an address on each line');
  const form = { type: readType(options), target_country: readCountry(options) };
  const file = await openLineFile(path);
  const answer = await withAnyService(input, (client) =>
    client.format({ ...form, file }, { signal }),
  );
  await printAnswer(input, answer, () => describe(answer));
  return isOk(answer) ? exitCodes.done : exitCodes.someFailed;
}

/** The specification shows nothing of the answer: this is the local service's, others are shown as they are. */
const pairs = z.looseObject({
  results: z.array(z.looseObject({ input: z.string(), formatted: z.string().nullable() })),
});

function describe(answer: FormatAnswer): string {
  const parsed = pairs.safeParse(answer);
  if (!parsed.success) return fieldsText(answer);
  return textTable(parsed.data.results.map(({ input, formatted }) => [input, formatted ?? '-']));
}

/** A problem of the outcome is told in the field `status` of a 200 (spec 7). */
const troubled = z.looseObject({ status: z.enum(['error', 'parse_error', 'empty']) });

function isOk(answer: FormatAnswer): boolean {
  return !troubled.safeParse(answer).success;
}
