import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { otherPrograms } from '../../../lists/files/other-programs.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { killBehind } from '../../harness/run-sluice.js';
import { commandFor, formats, rows } from './rows-in-formats.js';
import { runInProcess } from '../../harness/run-in-process.js';

/** Where the process is killed differs from format to format: in pass one, while batches are driven. */
const killedBehind = [2, 4, 5];

it.each(
  formats.map((format, index) => [format, killedBehind[index % killedBehind.length] ?? 2] as const),
)('from a file of %s to another, killed: goes on and pays once', async (format, writes) => {
  const folder = await withFolder();
  const { service } = await withService({ parseDelayMs: 20, verifyDelayMs: 30 });
  const options = inFolder(folder, service);
  await writeFile(join(folder, `list.${format}`), await otherPrograms[format].write(rows));
  const command = commandFor(`list.${format}`, `out.${format}`, format);
  const args = [...command, '--batch-size', '16', '--poll-interval', '10'];
  expect((await killBehind(args, writes, options)).signal).toBe('SIGKILL');
  expect(await readdir(folder)).not.toContain(`out.${format}`);
  const { code, stderr } = await runInProcess(args, options);
  expect(code, stderr).toBe(0);
  const read = await otherPrograms[format].read(await readFile(join(folder, `out.${format}`)));
  expect(
    read.map((row) => ('email' in row ? row.email : row['value' as keyof typeof row])),
  ).toEqual(rows.map(({ email }) => email));
  if (format !== 'txt') {
    expect(
      read.every((row) => String((row as Record<string, unknown>)['email_valid']) === 'true'),
    ).toBe(true);
  }
  expect((await chargesOf(service)).map(({ address }) => address).toSorted()).toEqual(
    [...new Set(rows.map(({ email }) => email))].toSorted(),
  );
  expect(await readdir(folder)).toHaveLength(2);
});

it.each(formats.filter((format) => format !== 'txt' && format !== 'tsv'))(
  'from standard input of %s, whose format is found by looking, killed once',
  async (format) => {
    const folder = await withFolder();
    const { service } = await withService({ parseDelayMs: 20, verifyDelayMs: 30 });
    const input = await otherPrograms[format].write(rows);
    const options = { cwd: folder, env: connectTo(service), input };
    const command = commandFor('-', 'out.csv', format);
    const args = [...command, '--batch-size', '16', '--poll-interval', '10'];
    expect((await killBehind(args, 5, options)).signal).toBe('SIGKILL');
    // Standard input was read to its end: it is not needed again.
    const { code, stderr } = await runInProcess(args, { ...options, input: Buffer.alloc(0) });
    expect(code, stderr).toBe(0);
    const read = await otherPrograms.csv.read(await readFile(join(folder, 'out.csv')));
    expect(read).toHaveLength(60);
  },
);
