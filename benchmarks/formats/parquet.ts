import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFolder } from '../data/cached-file.js';
import { contactsFile, usualContacts } from '../data/contacts.js';
import { askDuckdb, hashOfTable } from '../harness/duckdb.js';
import type { Question, Scale, Task } from '../harness/question.js';
import { verifyFile } from '../harness/verify-command.js';

const csv = async (scale: Scale): Promise<string> => contactsFile(usualContacts(scale.rows));

/** The same list as DuckDB writes it. */
async function parquet(scale: Scale): Promise<string> {
  const path = join(dataFolder, `people-${scale.rows}.parquet`);
  if (existsSync(path)) return path;
  const rows = `read_csv('${await csv(scale)}', header = true, all_varchar = true)`;
  await askDuckdb(`COPY (FROM ${rows}) TO '${path}.part' (FORMAT parquet)`);
  await rename(`${path}.part`, path);
  return path;
}

/** The same list in two formats, each into its own. */
export const parquetFiles: Question = {
  asks: 'What does a run from Parquet to Parquet take?',
  rounds: 3,
  async prepare(scale) {
    await parquet(scale);
  },
  tasks: { csv: verifying('csv', csv), parquet: verifying('parquet', parquet) },
  figures: (median) => [
    {
      what: 'the whole `sluice verify` from Parquet to Parquet, emails: processor time',
      against: 'the same list from CSV to CSV',
      value: median('parquet', 'cpuSeconds') / median('csv', 'cpuSeconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.8, aim: 1.3 },
    },
    {
      what: 'its peak memory',
      against: '',
      value: median('parquet', 'peakBytes') / 1024 / 1024,
      unit: 'MiB',
      target: { bound: 'at most', value: 256, aim: 200 },
    },
  ],
};

/** The rows have to be the same in both formats. */
function verifying(ending: string, input: (scale: Scale) => Promise<string>): Task {
  return {
    checkedAs: 'rows',
    async run(scale) {
      const form = { ending, hash: hashOfTable };
      const { check, cpuSeconds, peakBytes } = await verifyFile(
        await input(scale),
        ['--email', 'email'],
        form,
      );
      return { check, values: { cpuSeconds, peakBytes } };
    },
  };
}
