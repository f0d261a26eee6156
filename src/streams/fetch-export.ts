import type { VerificationType } from '../contract/enums.js';
import { OutcomeTable } from '../results/outcome-table.js';
import { readExport } from '../results/read-export.js';
import type { ExportOpener } from '../batches/result-join.js';

/**
 * Fetches a whole export and keeps its bytes in memory.
 *
 * @throws ContractError `broken_contract` when it is cut short or no JSON
 */
export async function fetchExport(
  open: ExportOpener,
  type: VerificationType,
): Promise<ExportOpener> {
  const kept: Uint8Array[] = [];
  async function* keep(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      kept.push(chunk);
      yield chunk;
    }
  }
  await readExport(keep(await open()), {
    type,
    outcomes: new OutcomeTable(),
    onRecord: () => undefined,
  });
  return async () => replay(kept);
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
