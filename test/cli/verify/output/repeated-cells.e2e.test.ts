import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFolder, withService } from '../../../service/with-service.js';
import { inFolder } from '../../harness/connect-to.js';
import { filesBelow } from '../../harness/files-below.js';
import { runInProcess } from '../../harness/run-in-process.js';

const address = 'canary.88f0b2@sluice.test';
const columns = ['--email', 'email', '--country', 'US', '--poll-interval', '10', '--verbose'];
const phone = '+44 20 7946 0123';
const phoneForms = ['7946 0123', '79460123'];
const nobody = 'canary of nowhere';

/** Answers that repeat cells, in words or hidden in them. */
const echoes: readonly { readonly status: number; readonly json: object }[] = [
  { status: 200, json: { status: address, [nobody]: `${phone} ${nobody}` } },
  { status: 422, json: { detail: [{ loc: ['file', address, nobody], msg: `${phone} is wrong` }] } },
  { status: 500, json: { message: `${address} and ${phone} and ${nobody} are refused` } },
];

it.each(
  (['uploadBatch', 'prepareBatch', 'batchStatus', 'launchBatch', 'exportBatch'] as const).flatMap(
    (operation) => echoes.map((answer) => ({ operation, answer, status: answer.status })),
  ),
)(
  'repeats no cell that the service repeats: $operation answered with $status',
  async ({ operation, answer }) => {
    const folder = await withFolder();
    await writeFile(join(folder, 'list.csv'), `email\n${address}\n${nobody}\n`);
    const { service } = await withService({
      faults: { faults: [{ operation, what: { answer } }] },
    });
    const args = ['verify', 'list.csv', '-o', 'out.csv', '--summary', 'summary.json'];
    const bounds = ['--give-up-after', '0.2', '--batch-deadline', '0.0001', '--json-log'];
    const ended = await runInProcess(
      [...args, ...columns, '--report', 'report.html', ...bounds],
      inFolder(folder, service),
    );
    const printed = ended.stderr + ended.stdout.toString();
    for (const secret of ['canary', 'sluice.test', ...phoneForms])
      expect(printed).not.toContain(secret);
    for (const path of await filesBelow(folder)) {
      if (/(?:list|out)\.csv$|\/batches\/\d+\.txt$/.test(path)) continue;
      const text = await readFile(path, 'latin1');
      for (const secret of ['canary', ...phoneForms]) expect(text, path).not.toContain(secret);
    }
  },
);
