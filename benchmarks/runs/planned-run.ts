import { join } from 'node:path';
import { fileSink } from '../../src/lists/files/file-sink.js';
import { fileSource } from '../../src/lists/files/file-source.js';
import { systemFiles } from '../../src/platform/files/file-system.js';
import { systemClock } from '../../src/platform/waiting/clock.js';
import {
  readIntoBatches,
  type PlannedInput,
  type PlanInputOptions,
} from '../../src/engine/runs/planning/plan-input.js';
import { emptyRunState } from '../../src/engine/stores/run-state.js';
import { StateDirectory } from '../../src/engine/stores/directory/state-directory.js';

/** Pass one of a run over the emails of a list, with a state directory as a run has it. */
export async function planRun(
  input: string,
  folder: string,
  options: Pick<PlanInputOptions, 'partitionFrom'> = {},
): Promise<PlannedInput & { readonly state: StateDirectory }> {
  const state = await StateDirectory.open(systemFiles, join(folder, 'state'), { fresh: true });
  const plannedInput = await readIntoBatches({
    ...options,
    source: fileSource(input),
    sink: fileSink(join(folder, 'out.csv')),
    email: ['email'],
    country: 'US',
    batchSize: 50_000,
    entry: {
      entry: 'run',
      id: '0123456789abcdef',
      seed: '07'.repeat(32),
      startedAt: '2026-01-01T00:00:00.000Z',
      service: 'local',
      account: 'a',
      decides: { input, prefix: { email: 'x' } },
      writes: {},
    },
    state: emptyRunState,
    scratch: state,
    files: systemFiles,
    signal: new AbortController().signal,
    clock: systemClock,
    suppressed: undefined,
    concurrency: 1,
  });
  return { ...plannedInput, state };
}

/** The text of a batch's TXT file. */
export async function batchText(plannedInput: PlannedInput, batch: number): Promise<string> {
  const pieces: Buffer[] = [];
  const found = plannedInput.batches[batch];
  if (!found) throw new Error(`there is no batch ${batch}`);
  for await (const piece of found.open()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}
