import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { withS3 } from '../../../servers/start-s3.js';

const dist = fileURLToPath(new URL('../../../../dist/', import.meta.url));

/** Writes four lists, and copies them as one into a fifth; gives the most memory that took. */
const program = `
  import { combinedSource, rowsSource } from ${JSON.stringify(`${dist}index.js`)};
  import { s3Sink, s3Source } from ${JSON.stringify(`${dist}lists/remote/s3/index.js`)};
  const each = Number(process.argv[1]) / 4;
  async function copy(source, sink) {
    const reading = await source.open({ wanted: () => [1] });
    const opening = { runId: 'r', reading, verified: [], added: [], cellsOf: () => [] };
    const writing = await sink.open(opening);
    const outcomes = new Uint32Array(0);
    let [rows, peak] = [0, 0];
    for await (const chunk of reading.chunks) {
      await writing.write({ chunk, from: 0, to: chunk.length, outcomes, width: 0 });
      rows += chunk.length;
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    await writing.finish();
    return { rows, peak };
  }
  function* make(first) {
    for (let id = first; id < first + each; id += 1) {
      yield { id: String(id), email: 'good' + id + '@sluice.test', note: 'some more to be carried, '.repeat(4) };
    }
  }
  const urls = [0, 1, 2, 3].map((part) => 's3://lists/in-' + each + '-' + part + '.csv');
  for (const [part, url] of urls.entries()) await copy(rowsSource(make(part * each)), s3Sink(url));
  const sources = urls.map((url) => s3Source(url));
  console.log(JSON.stringify(await copy(combinedSource(sources), s3Sink('s3://lists/out.csv'))));
`;

it('copies ten times as many rows from a bucket into a bucket in the same memory', async () => {
  const { env } = await withS3();
  const copyRows = async (rows: number): Promise<{ rows: number; peak: number }> => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, String(rows)], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    await new Promise((resolve) => {
      child.on('close', resolve);
    });
    return JSON.parse(stdout) as { rows: number; peak: number };
  };
  const small = await copyRows(100_000);
  const large = await copyRows(1_000_000);
  expect([small.rows, large.rows]).toEqual([100_000, 1_000_000]);
  // The lists alone are over 130 MB; three parts of an upload are held at once.
  expect(large.peak - small.peak).toBeLessThan(90 * 2 ** 20);
}, 300_000);
