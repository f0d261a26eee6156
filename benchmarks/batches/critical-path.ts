import { join } from 'node:path';
import { Client } from '../../src/client/client.js';
import { fileSink } from '../../src/lists/files/file-sink.js';
import { fileSource } from '../../src/lists/files/file-source.js';
import { run } from '../../src/engine/runs/run.js';
import { hashOfFile } from '../data/cached-file.js';
import { contactsFile, type ContactsSize } from '../data/contacts.js';
import type { Question } from '../harness/question.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { withService } from '../harness/with-service.js';
import { expectedOutputHash } from '../reference/expected-output.js';
import { localEmailColumn } from '../reference/local-service-results.js';

const batches = 20;
const concurrency = 4;
const batchSize = 1000;
const size: ContactsSize = { rows: batches * batchSize, unique: batches * batchSize };
const input = async (): Promise<string> => contactsFile(size);

/** Batches that the service takes its time for: what the waiting for them costs beyond that time. */
export const criticalPath: Question = {
  asks: 'How close to the service’s own delays does a run come, and with how many polls?',
  async prepare() {
    await input();
  },
  tasks: {
    reference: {
      checkedAs: 'output',
      isReference: true,
      run: async () => ({
        check: await expectedOutputHash(await input(), [localEmailColumn]),
        values: {},
      }),
    },
    sluice: {
      checkedAs: 'output',
      run: async ({ delayMs }) => {
        const delay = String(delayMs);
        const service = ['--parse-delay', delay, '--verify-delay', delay];
        return withScratch(async (folder) =>
          withService(['--data', join(folder, 'service'), ...service], async (environment) => {
            let polls = 0;
            const client = new Client({
              baseUrl: environment.SLUICE_BASE_URL,
              apiKey: environment.SLUICE_API_KEY,
              onRequest: ({ operation }) => {
                if (operation === 'batchStatus') polls += 1;
              },
            });
            const output = join(folder, 'output.csv');
            const { seconds } = await timed(async () =>
              run({
                source: fileSource(await input()),
                sink: fileSink(output),
                client,
                stateDir: join(folder, 'state'),
                email: ['email'],
                country: 'US',
                batchSize,
                concurrency,
              }),
            );
            await client.close();
            return { check: await hashOfFile(output), values: { seconds, polls } };
          }),
        );
      },
    },
  },
  figures: (median, { delayMs }) => [
    {
      what: `wall time of ${batches} batches, parse and verify delays of ${delayMs / 1000} s each, concurrency ${concurrency}`,
      against: 'the delays on the critical path',
      value: median('sluice', 'seconds') / (((batches / concurrency) * 2 * delayMs) / 1000),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.1, aim: 1.05 },
    },
    {
      what: 'polls in that run',
      against: '',
      value: median('sluice', 'polls') / batches,
      unit: 'a batch',
      target: { bound: 'at most', value: 5, aim: 3 },
    },
  ],
};
