import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { Client } from '../../src/client/client.js';
import { systemFiles, readFileBytes } from '../../src/platform/files/file-system.js';
import { cachedFile, hashOfFile } from '../data/cached-file.js';
import { emailOf } from '../data/people.js';
import { peakBytes } from '../harness/peak-bytes.js';
import type { Question, Task } from '../harness/question.js';
import { timed } from '../harness/seconds.js';
import { withProgram } from '../harness/with-program.js';

const smallMegabytes = 10;

async function batchFile(megabytes: number): Promise<string> {
  return cachedFile(`batch-${megabytes}.txt`, function* lines() {
    for (let n = 0, bytes = 0; bytes < megabytes * 1_000_000; n += 1) {
      const line = `${emailOf(n)}\n`;
      bytes += line.length;
      yield line;
    }
  });
}

/** One batch, as a run keeps it on disk, to a service that reads it and keeps nothing. */
export const upload: Question = {
  asks: 'Does memory grow with the size of an upload?',
  async prepare(scale) {
    await batchFile(smallMegabytes);
    await batchFile(scale.uploadMegabytes);
  },
  tasks: {
    'file, small': reference('small', () => smallMegabytes),
    'file, large': reference('large', ({ uploadMegabytes }) => uploadMegabytes),
    small: sending('small', () => smallMegabytes),
    large: sending('large', ({ uploadMegabytes }) => uploadMegabytes),
  },
  figures: (median, { uploadMegabytes }) => [
    {
      what: `upload of a batch of ${uploadMegabytes} MB: peak memory`,
      against: `itself with ${smallMegabytes} MB`,
      value: median('large', 'peakBytes') / median('small', 'peakBytes'),
      unit: 'times',
      target: { bound: 'at most', value: 1.1 },
    },
    {
      what: 'the same, absolute',
      against: '',
      value: median('large', 'peakBytes') / 1_000_000,
      unit: 'MB',
    },
    {
      what: 'its speed',
      against: '',
      value: uploadMegabytes / median('large', 'seconds'),
      unit: 'MB/s',
    },
  ],
};

type Megabytes = (scale: { readonly uploadMegabytes: number }) => number;

function reference(checkedAs: string, megabytes: Megabytes): Task {
  return {
    checkedAs,
    isReference: true,
    run: async (scale) => ({
      check: await hashOfFile(await batchFile(megabytes(scale))),
      values: {},
    }),
  };
}

const answered = z.looseObject({ sha256: z.string() });

function sending(checkedAs: string, megabytes: Megabytes): Task {
  return {
    checkedAs,
    async run(scale) {
      const path = await batchFile(megabytes(scale));
      const { size: sizeBytes } = await stat(path);
      return withProgram('../counting-server.js', [], async (port) => {
        const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'benchmark' });
        const { seconds, result } = await timed(async () =>
          client.uploadBatch({
            name: 'benchmark',
            type: 'email',
            target_country: 'US',
            file: { sizeBytes, open: () => readFileBytes(systemFiles, path, true) },
          }),
        );
        await client.close();
        const { sha256 } = answered.parse(result);
        return { check: sha256, values: { seconds, peakBytes: peakBytes() } };
      });
    },
  };
}
