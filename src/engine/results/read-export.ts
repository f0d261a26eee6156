import { ExportParser, type ExportCounts, type ExportParserOptions } from './export-parser.js';

/**
 * Reads a JSON export (spec 2.9) as it arrives; memory does not grow with it. Records are reported
 * before the export is known to be whole: nothing of them may be used unless this resolves.
 *
 * @throws ContractError `broken_contract`, retryable, when the export is not one complete JSON object
 */
export async function readExport(
  body: AsyncIterable<Uint8Array>,
  options: ExportParserOptions,
): Promise<ExportCounts> {
  const parser = new ExportParser(options);
  for await (const chunk of body) {
    const preparing = options.expected?.keys.prepare(chunk.length);
    if (preparing) await preparing;
    parser.push(chunk);
  }
  return parser.end();
}
