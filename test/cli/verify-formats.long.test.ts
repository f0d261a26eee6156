import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { otherPrograms, type OtherFormat } from '../formats/other-programs.js';
import { withFolder, withService } from '../service/with-service.js';
import { chargesOf } from './charges.js';
import { connectTo } from './connect-to.js';
import { killBehind } from './kill-behind.js';
import { runInProcess } from './run-in-process.js';

const rows = Array.from({ length: 60 }, (_, row) => ({
  id: row,
  email: `good${String(row % 50)}@sluice.test`,
  note: `note "${String(row)}"`,
}));
const formats = Object.keys(otherPrograms) as OtherFormat[];

function commandFor(input: string, output: string, format: OtherFormat): readonly string[] {
  const column = format === 'txt' ? 'value' : 'email';
  return ['verify', input, '-o', output, '--email', column, '--country', 'US'];
}

/** Where the process is killed differs from format to format: in pass one, while batches are driven. */
const killedBehind = [2, 4, 5];

it.each(
  formats.map((format, index) => [format, killedBehind[index % killedBehind.length] ?? 2] as const),
)('from a file of %s to another, killed: goes on and pays once', async (format, writes) => {
  const folder = await withFolder();
  const { service } = await withService({ parseDelayMs: 20, verifyDelayMs: 30 });
  const options = { cwd: folder, env: connectTo(service) };
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

it.each(formats.filter((format) => format !== 'csv.gz'))(
  'streams from standard input to standard output in %s',
  async (format) => {
    const input = await otherPrograms[format].write(rows);
    const command = [
      'verify',
      '--email',
      format === 'txt' ? 'value' : 'email',
      '--country',
      'US',
      '-',
    ];
    const ended = await runInProcess(
      [...command, '--local', '--quiet', '--input-format', format, '--output-format', format],
      { input },
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(await otherPrograms[format].read(ended.stdout)).toHaveLength(60);
  },
);

it('ends with 6 and leaves nothing behind when the input was cut short', async () => {
  const folder = await withFolder();
  const whole = await otherPrograms.xlsx.write(rows);
  await writeFile(join(folder, 'list.xlsx'), whole.subarray(0, whole.length - 100));
  const ended = await runInProcess(
    [...commandFor('list.xlsx', 'out.xlsx', 'xlsx'), '--local', '--quiet'],
    { cwd: folder },
  );
  expect(ended.code).toBe(6);
  expect(ended.stderr).toContain('list.xlsx cannot be read as XLSX: it was cut short');
  expect(await readdir(folder)).toEqual(['list.xlsx']);
});

it('refuses what the output has no form for before anything is sent', async () => {
  const folder = await withFolder();
  const { service } = await withService();
  await writeFile(join(folder, 'list.csv'), 'email,email,note\na@sluice.test,b@sluice.test,x\n');
  const options = { cwd: folder, env: connectTo(service) };
  const args = ['verify', 'list.csv', '--email', '#1', '--country', 'US', '--prefix', '#1=v'];
  const ended = await runInProcess([...args, '-o', 'out.jsonl'], options);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('more than one column named "email"');
  const broken = Buffer.from('email,note\na@sluice.test,caf\xe9\n', 'latin1');
  await writeFile(join(folder, 'list.csv'), broken);
  const list = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.jsonl'];
  const refused = await runInProcess(list, options);
  expect(refused.code).toBe(6);
  expect(refused.stderr).toContain(
    'data row 1 of the input holds in column 2 bytes that are no valid text',
  );
  expect(await chargesOf(service)).toEqual([]);
  const named = await runInProcess([...list, '--encoding', 'latin1'], options);
  expect(named.code, named.stderr).toBe(0);
  expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toContain('"note":"café"');
});
