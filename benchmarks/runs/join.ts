import { join as joinPath } from 'node:path';
import { fileSink } from '../../src/lists/files/file-sink.js';
import { writeJoined } from '../../src/engine/runs/output/write-output.js';
import { hashOfFile } from '../data/cached-file.js';
import { contactsFile, usualContacts } from '../data/contacts.js';
import type { Question, Scale } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { syntheticExport } from '../harness/synthetic-export.js';
import { copyCsv } from '../peers/copy-csv.js';
import { expectedOutputHash } from '../reference/expected-output.js';
import { syntheticEmailColumn } from '../reference/synthetic-results.js';
import { batchText, planRun } from './planned-run.js';

const input = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** Pass two alone: a CSV file and results in memory become an enriched CSV file, safe on disk. */
export const join: Question = {
  asks: 'How long does it take to put results behind the rows of a CSV file?',
  async prepare(scale) {
    await input(scale);
  },
  tasks: {
    reference: {
      checkedAs: 'output',
      isReference: true,
      run: async (scale) => ({
        check: await expectedOutputHash(await input(scale), [syntheticEmailColumn]),
        values: {},
      }),
    },
    sluice: {
      checkedAs: 'output',
      run: async (scale) =>
        withScratch(async (folder) => {
          const plannedInput = await planRun(await input(scale), folder);
          for (const batch of plannedInput.batches) {
            const text = await batchText(plannedInput, batch.id);
            const results = async () => asyncly(syntheticExport(text));
            await plannedInput.plan.join.settle(batch, { results });
          }
          const output = joinPath(folder, 'output.csv');
          const { seconds } = await timed(async () =>
            writeJoined({
              ...plannedInput,
              sink: fileSink(output),
              signal: new AbortController().signal,
              onRows: () => undefined,
            }),
          );
          await plannedInput.state.close();
          return { check: await hashOfFile(output), values: { seconds } };
        }),
    },
    'csv-parse and csv-stringify': {
      checkedAs: 'copy',
      run: async (scale) =>
        withScratch(async (folder) => {
          const output = joinPath(folder, 'output.csv');
          const { seconds } = await timed(async () => copyCsv(await input(scale), output));
          return { check: await hashOfFile(output), values: { seconds } };
        }),
    },
  },
  figures: (median) => [
    {
      what: 'joining results in memory onto a CSV file',
      against: 'csv-parse to objects into csv-stringify',
      value: median('csv-parse and csv-stringify', 'seconds') / median('sluice', 'seconds'),
      unit: 'times as fast',
      target: { bound: 'at least', value: 8, aim: 14 },
    },
  ],
};

async function* asyncly(blocks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* blocks;
}
