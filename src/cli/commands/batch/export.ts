import { exportFormats, type ExportFormat } from '../../../contract/index.js';
import { checkOutputPath, writeOutputFile } from '../../../index.js';
import { defineCommand, defineOptions, type CommandInput, type NameOf } from '../../command.js';
import { serviceOptions } from '../../service/connect.js';
import { exitCodes } from '../../exit-code.js';
import { choice, path } from '../../options/option-types.js';
import { onlyBatch } from '../../options/positionals.js';
import { printBytes, printJson } from '../../terminal/print.js';
import { standard } from '../../endpoints/resolve-path.js';
import { withService } from '../../service/with-service.js';

const exportOptions = defineOptions([
  {
    name: 'output',
    short: 'o',
    type: path('<path>'),
    help: 'Where they go (default -: standard output).',
  },
  {
    name: 'format',
    type: choice('<format>', exportFormats),
    help: "json or xlsx (default: by the output's ending, else json).",
  },
  { name: 'details', help: 'With the section of details.' },
  { name: 'statistics', help: 'With the section of statistics.' },
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
    const { body } = await client.exportBatch(batch, query, { signal });
    if (output !== standard) await writeOutputFile(output, body);
    else await (query.format === 'json' ? printJson(body, stdout) : printBytes(body, stdout));
  });
  return exitCodes.done;
}

function formatOf(output: string): ExportFormat {
  return output.toLowerCase().endsWith('.xlsx') ? 'xlsx' : 'json';
}
