import type { VerificationService } from '../../client/client.js';
import { type Batch, readLines } from '../batches/batch.js';
import type { ExportTally } from '../batches/export-check.js';
import { exportKeyCandidates, type ExportOpener } from '../plan/result-join.js';
import { readExport } from '../results/export-parser.js';
import { OutcomeTable } from '../results/outcome-table.js';

/** Requests the records of a batch, without sections, each time it is opened. */
export function openExport(
  service: VerificationService,
  batch: Batch,
  uuid: string,
  signal: AbortSignal,
): ExportOpener {
  return async () => {
    const query = { format: 'json', include_details: false, include_statistics: false } as const;
    const { body } = await service.exportBatch(uuid, query, { signal, sent: batch });
    return body;
  };
}

/**
 * Fetches a whole export and keeps its bytes in memory: only the keys are examined; the records are read when
 * they are joined.
 */
export async function fetchExport(
  open: ExportOpener,
  batch: Batch,
): Promise<{ readonly results: ExportOpener; readonly tally: ExportTally }> {
  const { type, country } = batch.group;
  const kept: Uint8Array[] = [];
  async function* keep(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      kept.push(chunk);
      yield chunk;
    }
  }
  const lines = new Set<string>();
  for await (const line of readLines(batch)) {
    for (const key of exportKeyCandidates(type, line, country)) lines.add(key);
  }
  const named = new Set<string>();
  const { unwanted } = await readExport(keep(await open()), {
    type,
    outcomes: new OutcomeTable(),
    isWanted: (key) => exportKeyCandidates(type, key, country).some((known) => lines.has(known)),
    onRecord: (key) => {
      for (const known of exportKeyCandidates(type, key, country)) {
        if (lines.has(known)) named.add(known);
      }
    },
  });
  const tally = {
    named: Math.min(named.size, batch.addresses),
    strangers: unwanted,
    conflicting: 0,
  };
  return { results: async () => replay(kept), tally };
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
