import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fileSource } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

const list = [
  'id,Email,mobile',
  '1,good1@sluice.test,+12025550143',
  '2,bad1@sluice.test,',
  '3,unknown1@sluice.test,+12025550143',
  '4,,',
  '5,ann@gmial.com,+12025550143',
  '6,good1@sluice.test,+12025550143',
  '',
].join('\n');

async function verify(
  args: readonly string[],
  input = list,
  output = 'out.csv',
): Promise<EndedHere> {
  await writeFile(join(folder, 'list.csv'), input);
  const all = ['verify', 'list.csv', '-o', output, '--poll-interval', '5', '--country', 'US'];
  return runInProcess([...all, ...args], inFolder(folder, service));
}

async function read(name: string): Promise<readonly string[]> {
  return (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n');
}

/** The header of an output of any format. */
async function headerOf(name: string): Promise<readonly string[]> {
  const reading = await fileSource(join(folder, name), { columns: 'all' }).open({
    wanted: () => [],
  });
  await reading.chunks[Symbol.asyncIterator]().return?.();
  return reading.header;
}

const email = ['--email', 'Email'];
const both = [...email, '--phone', 'mobile'];

describe('--columns', () => {
  it('writes those alone, in the order given, and each type has its own', async () => {
    const ended = await verify([...both, '--columns', 'quality,valid,operator,reason']);
    expect(ended.code, ended.stderr).toBe(0);
    const [header, first, , , empty] = await read('out.csv');
    expect(header).toBe(
      'id,Email,mobile,Email_quality,Email_valid,Email_reason,mobile_valid,mobile_operator,mobile_reason',
    );
    expect(first).toMatch(/^1,good1@sluice\.test,\+12025550143,good,true,,(true|false),[^,]*,$/);
    expect(empty).toBe('4,,,,,empty,,,empty');
  });

  it.each(['out.jsonl', 'out.xlsx', 'out.parquet', 'out.tsv', 'out.csv.gz'])(
    'narrows %s',
    async (output) => {
      const ended = await verify([...both, '--columns', 'valid,quality'], list, output);
      expect(ended.code, ended.stderr).toBe(0);
      expect(await headerOf(output)).toEqual([
        'id',
        'Email',
        'mobile',
        'Email_valid',
        'Email_quality',
        'mobile_valid',
      ]);
    },
  );

  it('narrows a table of a database and a folder of parts', async () => {
    const options = [...email, '--columns', 'verification,valid'];
    const table = await verify([...options, '--into', 'verified'], list, 'sqlite:out.db');
    expect(table.code, table.stderr).toBe(0);
    const parts = await verify([...options, '--part-size', '1MB'], list, 'parts');
    expect(parts.code, parts.stderr).toBe(0);
    const manifest = JSON.parse((await read('parts/manifest.json')).join('')) as {
      columns: string[];
    };
    const columns = ['id', 'Email', 'mobile', 'Email_verification', 'Email_valid'];
    expect(manifest.columns).toEqual(columns);
    const back = await runInProcess(
      ['verify', 'sqlite:out.db', '--query', 'select * from verified', '--country', 'US']
        .concat(['-o', 'back.jsonl', '--email', 'mobile', '--columns', 'reason'])
        .concat(['--poll-interval', '5']),
      inFolder(folder, service),
    );
    expect(back.code, back.stderr).toBe(0);
    expect(await headerOf('back.jsonl')).toEqual([...columns, 'mobile_reason']);
  });

  it('leaves --keep, its qualities, --rejects and the report what they go by', async () => {
    const keep = ['--keep', 'valid', '--keep-quality', 'good', '--rejects', 'rejects.csv'];
    const ended = await verify([
      ...both.slice(0, 2),
      ...keep,
      '--columns',
      'reason',
      '--report',
      'report.html',
    ]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await read('out.csv')).toEqual([
      'id,Email,mobile,Email_reason',
      '1,good1@sluice.test,+12025550143,',
      '6,good1@sluice.test,+12025550143,',
    ]);
    expect((await read('rejects.csv')).map((row) => row.split(',')[0])).toEqual([
      'id',
      '2',
      '3',
      '4',
      '5',
    ]);
    const report = (await read('report.html')).join('\n');
    expect(report).toContain('sluice.test');
  });

  it('may name those of --provenance and --suggest, which add theirs to any', async () => {
    await verify([...both, '--columns', 'valid,batch_uuid,suggestion']);
    expect((await read('out.csv'))[0]).toBe(
      'id,Email,mobile,Email_valid,Email_batch_uuid,Email_suggestion,mobile_valid,mobile_batch_uuid',
    );
    expect((await read('out.csv'))[1]).toMatch(/,true,[0-9a-f-]{36},,(true|false),[0-9a-f-]{36}$/);
    await verify([...email, '--columns', 'valid,source', '--provenance', '--suggest']);
    expect((await read('out.csv'))[0]).toBe(
      'id,Email,mobile,Email_valid,Email_source,Email_suggestion,Email_submitted,Email_verified_at,Email_batch_uuid',
    );
    expect((await read('out.csv'))[5]).toMatch(/,service,gmail\.com,ann@gmial\.com,20/);
  });

  it('goes with --prefix, and with a header that has the name of a column left out', async () => {
    const input = 'Email,m_quality\ngood1@sluice.test,mine\n';
    const prefix = [...email, '--prefix', 'Email=m'];
    expect((await verify([...prefix, '--columns', 'quality'], input)).code).toBe(2);
    expect((await verify([...prefix, '--columns', 'valid'], input)).code).toBe(0);
    expect(await read('out.csv')).toEqual([
      'Email,m_quality,m_valid',
      'good1@sluice.test,mine,true',
    ]);
  });

  it('may stand in a configuration and change when a run goes on, which pays nothing again', async () => {
    await writeFile(join(folder, 'a.json'), '{"columns": "valid", "max-credits": 0}');
    const stopped = await verify([...email, '--config', 'a.json']);
    expect(stopped.code, stopped.stderr).toBe(5);
    const ended = await verify([...email, '--columns', 'quality', '--suggest']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).not.toContain('has changed');
    expect((await read('out.csv'))[0]).toBe('id,Email,mobile,Email_quality,Email_suggestion');
    expect(await chargesOf(service)).toHaveLength(4);
  });

  it.each([
    [both, 'qualty', /"qualty".*"quality"/],
    [both, 'valid,', /""/],
    [both, 'valid,valid', /"valid"/],
    [['--phone', 'mobile'], 'quality', /"quality"/],
    [both, 'quality', /quality.*phone/],
    [both, 'Email_valid', /"valid"/],
  ])('%j refuse %j with 2, and nothing is sent', async (columns, names, trouble) => {
    const ended = await verify([...columns, '--columns', names]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(trouble);
    expect(await chargesOf(service)).toEqual([]);
  });
});

describe('--suggest', () => {
  it('adds the domain that was meant, and sends what stands in the cell', async () => {
    const ended = await verify([...both, '--suggest']);
    expect(ended.code, ended.stderr).toBe(0);
    const [header = '', ...rows] = await read('out.csv');
    const at = header.split(',').indexOf('Email_suggestion');
    expect(header).not.toContain('mobile_suggestion');
    expect(codedOf(ended, 'suggested')).toMatchObject([
      { column: 'Email', cells: 1, suggested_in: 'Email_suggestion' },
    ]);
    const without = await verify(both);
    expect(codedOf(without, 'misspelt_domains')).toMatchObject([{ column: 'Email', cells: 1 }]);
    expect(rows.map((row) => row.split(',')[at])).toEqual(['', '', '', '', 'gmail.com', '']);
    const sent = (await chargesOf(service)).map(({ address }) => address);
    expect(sent).toContain('ann@gmial.com');
    expect(sent.join()).not.toContain('gmail.com');
  });

  it('has a hint for a cell that cannot be sent, too', async () => {
    const input = 'Email\n"ann@gmail,com"\n';
    const ended = await verify([...email, '--suggest', '--columns', 'reason'], input);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await read('out.csv')).toEqual([
      'Email,Email_reason,Email_suggestion',
      '"ann@gmail,com",contains_comma,gmail.com',
    ]);
  });

  it('streams, too', async () => {
    const args = ['verify', '-', ...email, '--country', 'US', '--columns', 'suggestion'];
    const { stdout, code } = await runInProcess(args, { input: list, env: connectTo(service) });
    expect(code).toBe(0);
    expect(String(stdout)).toContain('5,ann@gmial.com,+12025550143,gmail.com\n');
  });

  it('ends with 2 where no emails are verified', async () => {
    const ended = await verify(['--phone', 'mobile', '--suggest']);
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([
      { code: 'invalid_option', message: expect.stringContaining('--suggest') },
    ]);
  });
});

describe('--split-by verdict', () => {
  /** The first cells of the rows of each file. */
  async function idsIn(name: string, ending = 'csv'): Promise<Record<string, readonly string[]>> {
    const found = (await readdir(join(folder, name))).toSorted();
    expect(found).toEqual(['none', 'unknown', 'valid', 'wrong'].map((one) => `${one}.${ending}`));
    const all = await Promise.all(
      found.map(async (file) => {
        const rows = (await read(`${name}/${file}`)).slice(1);
        return [file.split('.')[0] ?? '', rows.map((row) => row.split(',')[0] ?? '')] as const;
      }),
    );
    return Object.fromEntries(all);
  }

  it('writes a file for each verdict, with the same columns, in the order of the list', async () => {
    const ended = await verify([...email, '--split-by', 'verdict'], list, 'out');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await idsIn('out')).toEqual({
      valid: ['1', '6'],
      wrong: ['2'],
      unknown: ['3', '5'],
      none: ['4'],
    });
    const headers = await Promise.all(
      ['valid', 'wrong', 'unknown', 'none'].map(async (one) => (await read(`out/${one}.csv`))[0]),
    );
    expect(new Set(headers).size).toBe(1);
    expect(headers[0]).toContain('Email_is_catch_all');
    expect(await readdir(folder)).toEqual(['list.csv', 'out']);
  });

  it('goes by the worst verdict of the filled cells of a row: wrong, unknown, none, valid', async () => {
    const input = [
      'id,a,b',
      '1,good1@sluice.test,bad1@sluice.test',
      '2,unknown1@sluice.test,bad1@sluice.test',
      '3,unknown1@sluice.test,',
      '4,,good1@sluice.test',
      '5,good1@sluice.test,good2@sluice.test',
      '6,,',
      '7,good1@sluice.test,malformed',
      '8,bad1@sluice.test,',
      '',
    ].join('\n');
    const columns = ['--email', 'a', '--email', 'b', '--columns', 'reason'];
    const ended = await verify([...columns, '--split-by', 'verdict'], input, 'out/');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await idsIn('out')).toEqual({
      valid: ['4', '5'],
      wrong: ['1', '2', '8'],
      unknown: ['3'],
      none: ['6', '7'],
    });
  });

  it.each(['jsonl', 'xlsx', 'parquet'])('has the form of --output-format %s', async (format) => {
    const options = ['--split-by', 'verdict', '--output-format', format];
    const ended = await verify([...email, ...options], list, 'out');
    expect(ended.code, ended.stderr).toBe(0);
    expect(await readdir(join(folder, 'out'))).toContain(`valid.${format}`);
    expect(await headerOf(`out/valid.${format}`)).toContain('Email_valid');
  });

  it('has the form of the input without it', async () => {
    await writeFile(join(folder, 'in.jsonl'), '{"id":1,"Email":"good1@sluice.test"}\n');
    const args = ['verify', 'in.jsonl', '-o', 'out', '--split-by', 'verdict', '--country', 'US'];
    const ended = await runInProcess(
      [...args, ...email, '--poll-interval', '5'],
      inFolder(folder, service),
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(await read('out/valid.jsonl')).toHaveLength(1);
    expect((await stat(join(folder, 'out/wrong.jsonl'))).size).toBe(0);
  });

  it('replaces the files of the night before and leaves others alone', async () => {
    await mkdir(join(folder, 'out'));
    await writeFile(join(folder, 'out/notes.txt'), 'mine');
    const split = [...email, '--split-by', 'verdict', '--columns', 'reason'];
    expect((await verify(split, list, 'out')).code).toBe(0);
    const next = 'id,Email,mobile\n7,bad1@sluice.test,\n';
    expect((await verify(split, next, 'out')).code).toBe(0);
    expect(await read('out/valid.csv')).toEqual(['id,Email,mobile,Email_reason']);
    expect(await read('out/wrong.csv')).toHaveLength(2);
    expect(await read('out/notes.txt')).toEqual(['mine']);
  });

  it('leaves nothing of a run that stops, and gives the same files when it goes on', async () => {
    const split = [...email, '--split-by', 'verdict'];
    const stopped = await verify([...split, '--max-credits', '0'], list, 'out');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['list.csv', 'out.sluice']));
    expect(await readdir(folder)).not.toContain('out');
    const ended = await verify(split, list, 'out');
    expect(ended.code, ended.stderr).toBe(0);
    expect((await idsIn('out'))['valid']).toEqual(['1', '6']);
    expect(await chargesOf(service)).toHaveLength(4);
  });

  it('goes with --keep-quality and --rejects: every row is in one file', async () => {
    const keep = ['--keep-quality', 'good,bad', '--rejects', 'rejects.csv'];
    const ended = await verify([...email, '--split-by', 'verdict', ...keep], list, 'out');
    expect(ended.code, ended.stderr).toBe(0);
    const { valid, wrong, unknown, none } = await idsIn('out');
    const rejects = (await read('rejects.csv')).slice(1).map((row) => row.split(',')[0]);
    const all = [valid, wrong, unknown, none, rejects].flat();
    expect(all).toHaveLength(6);
    expect(new Set(all)).toEqual(new Set(['1', '2', '3', '4', '5', '6']));
    expect(valid).toEqual(['1', '6']);
    expect(rejects).toContain('4');
  });

  it.each([
    ['out', ['--split-by', 'country'], /--split-by/],
    ['out', ['--split-by', 'verdict', '--part-size', '5MB'], /--part-size/],
    ['out', ['--split-by', 'verdict', '--max-unknown', '5'], /--max-unknown/],
    ['-', ['--split-by', 'verdict'], /-o/],
    ['sqlite:a.db', ['--split-by', 'verdict', '--into', 't'], /-o/],
    ['list.csv', ['--split-by', 'verdict'], /list\.csv/],
    ['no/such', ['--split-by', 'verdict'], /no\/such/],
    [
      '.',
      ['--split-by', 'verdict', '--keep', 'valid', '--rejects', 'wrong.csv'],
      /--rejects.*wrong\.csv/,
    ],
    ['.', ['--split-by', 'verdict', '--summary', 'valid.csv'], 'valid.csv'],
  ])('into %s with %j ends with 2, and nothing is sent', async (output, options, trouble) => {
    const ended = await verify([...email, ...options], list, output);
    expect(ended.stderr).toMatch(trouble);
    expect(ended.code).toBe(2);
    expect(await chargesOf(service)).toEqual([]);
  });

  it('does not read a list from one of its own files', async () => {
    await writeFile(join(folder, 'valid.csv'), list);
    const args = ['verify', 'valid.csv', '-o', '.', '--split-by', 'verdict', '--country', 'US'];
    const ended = await runInProcess([...args, ...email], inFolder(folder, service));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/valid\.csv/);
  });
});
