import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printableLine } from '../../../../src/platform/text/printable.js';
import { withFolder } from '../../../service/with-service.js';
import { runInProcess } from '../../harness/run-in-process.js';

/** What texts say of options, in a program and on the command line, and what quotes and steers. */
const pieces = [
  '`email`',
  '`fresh`',
  '`prefix: {"a":"b"}`',
  "`onChange: 'carry'`",
  '`settings.description`',
  '--email',
  '--no-remove-wrong-format, --no-remove-wrong-format',
  '`',
  '"',
  "'",
  '&#39;',
  '\u0007',
  '\u001b[31m',
  'a',
];

const name = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 })
  .map((each) => each.join(' '));

it('names of columns, files and folders appear as they are in log, summary and report', async () => {
  const folder = await withFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(name, name, name, async (column, list, output) => {
      const cwd = join(folder, String((run += 1)));
      await mkdir(cwd);
      const [from, to] = [`${list}.csv`, `${output}.out.csv`];
      const header = `"${column.replaceAll('"', '""')}"`;
      // Half of them are no addresses, which is said of the column.
      await writeFile(join(cwd, from), `${header}\ngood1@sluice.test\nnone\n`);
      const form = ['--country', 'US', '-o', to, '--summary', 's.json', '--report', 'r.html'];
      const verify = ['verify', `./${from}`, `--email=${column}`, ...form, '--yes'];
      const { code, stderr } = await runInProcess([...verify, '--verbose'], { cwd });
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(printableLine(to));
      const summary = JSON.parse(await readFile(join(cwd, 's.json'), 'utf8')) as object;
      expect(summary).toMatchObject({ columns: [{ name: column }] });
      expect(JSON.stringify(summary)).toContain(JSON.stringify(to).slice(1, -1));
      const rows = await readFile(join(cwd, to), 'utf8');
      expect(rows).toContain(column.replaceAll('"', '""'));
      const missing = await runInProcess(
        ['verify', `./${from}`, `--email=${column}?`, ...form, '--json-log'],
        { cwd },
      );
      const error = JSON.parse(missing.stderr.trimEnd().split('\n').at(-1) ?? '') as object;
      expect(missing.code).toBe(2);
      expect(error).toMatchObject({
        column: `${column}?`,
        message: expect.stringContaining(JSON.stringify(`${column}?`)),
      });
    }),
    { numRuns: 12, seed: 1, endOnFailure: true },
  );
}, 60_000);
