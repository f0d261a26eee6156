import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { otherPrograms } from '../../../lists/files/other-programs.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { commandFor, formats, rows } from './rows-in-formats.js';
import { runInProcess } from '../../harness/run-in-process.js';
import { eventsOf } from '../../harness/logged-events.js';

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
  expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'input_malformed' }]);
  expect(await readdir(folder)).toEqual(['list.xlsx']);
});

it('refuses what the output has no form for before anything is sent', async () => {
  const folder = await withFolder();
  const { service } = await withService();
  await writeFile(join(folder, 'list.csv'), 'email,email,note\na@sluice.test,b@sluice.test,x\n');
  const options = inFolder(folder, service);
  const args = ['verify', 'list.csv', '--email', '#1', '--country', 'US', '--prefix', '#1=v'];
  const ended = await runInProcess([...args, '-o', 'out.jsonl'], options);
  expect(ended.code).toBe(2);
  expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'column_exists' }]);
  const broken = Buffer.from('email,note\na@sluice.test,caf\xe9\n', 'latin1');
  await writeFile(join(folder, 'list.csv'), broken);
  const list = ['verify', 'list.csv', '--email', 'email', '--country', 'US', '-o', 'out.jsonl'];
  const refused = await runInProcess(list, options);
  expect(refused.code).toBe(6);
  expect(eventsOf(refused, 'error')).toMatchObject([{ code: 'input_malformed' }]);
  expect(await chargesOf(service)).toEqual([]);
  const named = await runInProcess([...list, '--encoding', 'latin1'], options);
  expect(named.code, named.stderr).toBe(0);
  expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toContain('"note":"café"');
});
