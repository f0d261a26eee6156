import { checkValue } from '../../platform/check-options.js';
import { called } from '../../platform/option-kinds.js';
import { type Batch, readLines } from '../batches/batch.js';
import type { CollectedExport } from '../batches/export-check.js';
import { exportKeyCandidates, type ExportOpener } from '../plan/result-join.js';
import { readExport } from '../results/export-parser.js';
import { OutcomeTable } from '../results/outcome-table.js';
import type { DriveBatchesOptions } from './stream-options.js';

/**
 * Fetches a whole export: only keys are examined; records are read when they are joined.
 *
 * @param collect keeps it. @default in memory, while it is examined
 */
export async function fetchExport(
  open: ExportOpener,
  batch: Batch,
  collect?: DriveBatchesOptions['collect'],
): Promise<{ readonly results: ExportOpener; readonly tally: Omit<CollectedExport, 'keep'> }> {
  if (collect) {
    const results = await collect(batch, open);
    const what = 'a function that resolves with one that opens the export';
    checkValue('collect', results, { ...called, what });
    return { results, tally: await tallyExport(await results(), batch) };
  }
  const kept: Uint8Array[] = [];
  async function* keep(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      kept.push(chunk);
      yield chunk;
    }
  }
  const tally = await tallyExport(keep(await open()), batch);
  return { results: async () => replay(kept), tally };
}

async function tallyExport(
  body: AsyncIterable<Uint8Array>,
  batch: Batch,
): Promise<Omit<CollectedExport, 'keep'>> {
  const { type, country } = batch.group;
  const lines = new Set<string>();
  for await (const line of readLines(batch)) {
    for (const key of exportKeyCandidates(type, line, country)) lines.add(key);
  }
  const named = new Set<string>();
  /** By the key as it is exported: the first outcome. */
  const outcomes = new Map<string, number>();
  const conflicting = new Set<string>();
  const { unwanted, fault } = await readExport(body, {
    type,
    outcomes: new OutcomeTable(),
    isWanted: (key) => exportKeyCandidates(type, key, country).some((known) => lines.has(known)),
    onRecord: (key, outcome) => {
      if ((outcomes.get(key) ?? outcome) !== outcome) conflicting.add(key);
      outcomes.set(key, outcome);
      for (const known of exportKeyCandidates(type, key, country)) {
        if (lines.has(known)) named.add(known);
      }
    },
  });
  return {
    named: Math.min(named.size, batch.addresses),
    strangers: unwanted,
    conflicting: conflicting.size,
    fault,
  };
}

async function* replay(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
