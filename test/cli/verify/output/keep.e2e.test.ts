import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

const list = [
  'id,Email,mobile,country',
  '1,good1@sluice.test,+12025550143,US',
  '2,bad1@sluice.test,,USA',
  '3,unknown1@sluice.test,,Germany',
  '4,,,united states',
  '5,good2@sluice.test,,DEU',
  '6,good3@sluice.test,,Narnia',
  '7,good1@sluice.test,,us',
  '',
].join('\n');

async function verify(args: readonly string[], input = list): Promise<EndedHere> {
  await writeFile(join(folder, 'list.csv'), input);
  const output = args.includes('-o') ? [] : ['-o', 'out.csv'];
  const all = ['verify', 'list.csv', ...output, '--poll-interval', '5', ...args];
  return runInProcess(all, inFolder(folder, service));
}

async function read(name: string): Promise<readonly string[]> {
  return (await readFile(join(folder, name), 'utf8')).trim().split('\n');
}

/** The report, without the marks of what is code. */
async function readReport(): Promise<string> {
  return (await readFile(join(folder, 'r.html'), 'utf8')).replaceAll(/<\/?code>/g, '');
}

/** The first cell of each row. */
async function ids(name: string): Promise<readonly string[]> {
  return (await read(name)).slice(1).map((line) => line.split(',')[0] ?? '');
}

const email = ['--email', 'email', '--country-column', 'Country'];

describe('--keep and --rejects', () => {
  it.each([
    [['--keep', 'valid'], ['1']],
    [
      ['--keep', 'EMAIL=valid'],
      ['1', '5', '7'],
    ],
    [
      ['--keep', '#3=valid,none', '--keep', 'email=valid'],
      ['1', '5', '7'],
    ],
    [
      ['--keep', 'email=valid', '--keep', 'wrong,none'],
      ['5', '7'],
    ],
  ])('%s keeps by the columns that it names, of two', async (options, kept) => {
    const ended = await verify([...email, '--phone', 'mobile', ...options]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await ids('out.csv')).toEqual(kept);
  });

  it('say how many rows are left out although one of their columns is valid', async () => {
    const both = [...email, '--phone', 'mobile', '--summary', 'summary.json', '--report', 'r.html'];
    const ended = await verify([...both, '--keep', 'valid']);
    expect(ended.code, ended.stderr).toBe(0);
    const advice = codedOf(ended, 'valid_left_out');
    expect(advice).toMatchObject([{ columns: [{ column: 'Email', rows: 2 }] }]);
    const reported = advice[0]?.['message'];
    expect(await readReport()).toContain(`<li>${String(reported)}</li>`);
    const summary = JSON.parse((await read('summary.json')).join('\n'));
    expect(summary).toMatchObject({
      advice: expect.arrayContaining([reported]) as unknown,
      columns: [{ valid_left_out: 2 }, {}],
    });
    // Whoever names a column, or asks for a quality, knows what is left out.
    for (const options of [
      ['--keep', 'Email=valid', '--keep', 'mobile=valid'],
      ['--keep', 'valid', '--keep-quality', 'bad'],
    ]) {
      expect(codedOf(await verify([...both, ...options]), 'valid_left_out')).toEqual([]);
    }
  });

  it('say how many rows of a split have a valid column and are not among the valid ones', async () => {
    const both = ['--phone', 'mobile', ...email, '--split-by', 'verdict', '-o', 'split'];
    const input = list.replace('+12025550143', '+1202').replace('unknown1', 'good4');
    const ended = await verify(both, input);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'valid_left_out')).toMatchObject([
      { columns: [{ column: 'Email', rows: 1 }] },
    ]);
    // An empty cell says nothing.
    expect(await ids('split/valid.csv')).toEqual(['3', '5', '7']);
  });

  it('say how many of the valid are risky or of a throw-away service', async () => {
    const words = ['good1', 'risky1', 'risky2', 'disposable1', 'bad1', 'unknown.disposable1'];
    const input = ['Email', ...words.map((word) => `${word}@sluice.test`), ''].join('\n');
    const reports = ['--summary', 'summary.json', '--report', 'r.html'];
    const args = ['--email', 'Email', '--country', 'US', ...reports];
    const ended = await verify([...args, '--keep', 'valid'], input);
    expect(ended.code, ended.stderr).toBe(0);
    const advice = codedOf(ended, 'risky');
    expect(advice).toMatchObject([{ valid: 4, risky: 3, disposable: 1 }]);
    expect(await readReport()).toContain(advice[0]?.['message']);
    const summary = JSON.parse((await read('summary.json')).join('\n'));
    const risks = { of_valid: { risky: 3, disposable: 1, both: 1 } };
    expect(summary).toMatchObject({ columns: [risks], email: risks, phone: null });
    const chosen = await verify([...args, '--keep-quality', 'good,risky'], input);
    expect(codedOf(chosen, 'risky')).toEqual([]);
  });

  it.each([
    ['id=valid', /--keep.*"id".*"Email"/],
    ['email=vald', /--keep.*"vald"/],
  ])('--keep %s is refused before anything is sent', async (keep, message) => {
    const before = (await chargesOf(service)).length;
    const ended = await verify([...email, '--keep', keep]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
    expect(await chargesOf(service)).toHaveLength(before);
  });

  it('put every row into exactly one of two files, with the same columns', async () => {
    const ended = await verify([...email, '--keep', 'valid', '--rejects', 'rejects.csv']);
    expect(ended.code, ended.stderr).toBe(0);
    const outputs = [
      { name: 'out.csv', rows: 3 },
      { name: 'rejects.csv', rows: 4 },
    ];
    expect(eventsOf(ended, 'outputs')).toMatchObject([{ rows: 7, outputs }]);
    expect(await ids('out.csv')).toEqual(['1', '5', '7']);
    expect(await ids('rejects.csv')).toEqual(['2', '3', '4', '6']);
    expect((await read('out.csv'))[0]).toBe((await read('rejects.csv'))[0]);
  });

  it.each([
    [
      ['--keep', 'valid,unknown'],
      ['1', '3', '5', '7'],
    ],
    [
      ['--keep', 'none'],
      ['4', '6'],
    ],
    [
      ['--keep-quality', 'bad,unknown'],
      ['2', '3'],
    ],
    [['--keep', 'valid', '--keep-quality', 'bad'], []],
  ])('%s keeps the rows it says', async (options, kept) => {
    const ended = await verify([...email, ...options, '--summary', 'summary.json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await ids('out.csv')).toEqual(kept);
    expect(JSON.parse((await read('summary.json')).join('\n'))).toMatchObject({
      rows: 7,
      rows_left_out: 7 - kept.length,
      outputs: [{ name: join(folder, 'out.csv'), rows: kept.length }],
    });
  });

  it('looks at all verified columns of a row', async () => {
    const ended = await verify([...email, '--phone', 'mobile', '--keep', 'valid']);
    expect(ended.code, ended.stderr).toBe(0);
    expect((await ids('out.csv')).filter((id) => id !== '1')).toEqual([]);
  });

  it('splits a stream, too', async () => {
    await writeFile(join(folder, 'list.csv'), list);
    const ended = await runInProcess(
      ['verify', 'list.csv', ...email, '--keep', 'valid', '--rejects', 'rejects.jsonl'],
      inFolder(folder, service),
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.toString().trim().split('\n')).toHaveLength(4);
    expect(await read('rejects.jsonl')).toHaveLength(4);
  });

  it('are refused, and nothing is sent, where they mean nothing', async () => {
    const requests = countRequests(service);
    const cases: [string[], RegExp][] = [
      [['--keep', 'good'], /--keep/],
      [['--keep', 'vaild'], /--keep .*vaild.* valid\?/],
      [['--keep-quality', 'valid'], /--keep-quality/],
      [['--rejects', 'rejects.csv'], /--rejects.*--keep/],
      [['--keep', 'valid', '--rejects', 'out.csv'], /out\.csv/],
      [['--keep', 'valid', '--rejects', 'list.csv'], /list\.csv/],
      [['--keep', 'valid', '--rejects', '-'], /--rejects/],
      [['--max-unknown', '101'], /--max-unknown.*\b0\b.*\b100\b/],
      [['--max-unknown', 'x'], /--max-unknown/],
    ];
    for (const [options, message] of cases) {
      const { code, stderr } = await verify([...email, ...options]);
      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(message);
    }
    const phones = ['--phone', 'mobile', '--country', 'US', '--keep-quality', 'good'];
    expect((await verify(phones)).stderr).toMatch(/--keep-quality/);
    const streamed = await runInProcess(
      ['verify', 'list.csv', ...email, '--max-unknown', '5'],
      inFolder(folder, service),
    );
    expect(streamed.code).toBe(2);
    expect(requests).toEqual([]);
  });
});

describe('--max-unknown', () => {
  it('leaves the old output, writes the new one beside it, keeps nothing, and ends with 8', async () => {
    await writeFile(join(folder, 'out.csv'), 'old\n');
    const split = ['--keep', 'valid', '--rejects', 'rejects.csv'];
    const options = [...email, '--max-unknown', '19', '--summary', 'summary.json'];
    const ended = await verify([...options, ...split]);
    expect(ended.code, ended.stderr).toBe(8);
    expect(ended.stderr).toContain('out.csv.suspect');
    expect(await read('out.csv')).toEqual(['old']);
    expect(await ids('out.csv.suspect')).toEqual(['1', '5', '7']);
    expect(await ids('rejects.csv.suspect')).toEqual(['2', '3', '4', '6']);
    expect(JSON.parse((await read('summary.json')).join('\n'))).toMatchObject({
      suspect: true,
      max_unknown: 19,
      output: join(folder, 'out.csv.suspect'),
      exit_code: 8,
      reason: 'suspect',
    });
    expect(await readdir(folder)).not.toContain('out.csv.sluice');
  });

  it('has the next good output remove the suspect one', async () => {
    const split = ['--keep', 'valid', '--rejects', 'rejects.csv'];
    expect((await verify([...email, ...split, '--max-unknown', '19'])).code).toBe(8);
    const again = await verify([...email, ...split, '--max-unknown', '20']);
    expect(again.code, again.stderr).toBe(0);
    expect(await ids('out.csv')).toEqual(['1', '5', '7']);
    expect((await readdir(folder)).filter((name) => name.endsWith('.suspect'))).toEqual([]);
  });

  it('writes the output where there are not more', async () => {
    const ended = await verify([...email, '--max-unknown', '20']);
    // One of five verified cells is unknown: no more than that.
    expect(ended.code, ended.stderr).toBe(0);
    expect(await ids('out.csv')).toHaveLength(7);
  });
});

describe('--provenance', () => {
  it('says when, by which batch and from where each result came', async () => {
    const options = [...email, '--provenance', '--history', 'history', '--summary', 'summary.json'];
    expect((await verify(options)).code).toBe(0);
    const header = (await read('out.csv'))[0] ?? '';
    expect(header).toMatch(
      /,Email_is_catch_all,Email_submitted,Email_verified_at,Email_source,Email_batch_uuid$/,
    );
    const { batches } = JSON.parse((await read('summary.json')).join('\n')) as {
      batches: { batch_uuid: string; times: { exported_at: string } }[];
    };
    const [first = '', second = '', third = '', fourth = ''] = (await read('out.csv')).slice(1);
    const [us, de] = batches;
    expect(first).toMatch(new RegExp(`,${us?.times.exported_at},service,${us?.batch_uuid}$`));
    expect(second).toMatch(/,service,/);
    expect(third).toMatch(new RegExp(`,service,${de?.batch_uuid}$`));
    expect(fourth).toMatch(/,empty,.*,,,,$/);
    expect((await verify(options)).code).toBe(0);
    expect((await read('out.csv'))[1]).toBe(first.replace(',service,', ',history,'));
  });
});

describe('countries and columns', () => {
  it('take names and three-letter codes, and a header in any case', async () => {
    const ended = await verify(['--email', 'EMAIL', '--country-column', 'COUNTRY']);
    expect(ended.code, ended.stderr).toBe(0);
    const rows = await read('out.csv');
    expect(rows.slice(1).map((row) => row.split(',')[4])).toEqual([
      'verified',
      'verified',
      'verified',
      'not_submitted',
      'verified',
      'not_submitted',
      'verified',
    ]);
    expect(rows[6]).toContain('country_unsupported');
    // One address in one batch group, however its country is written.
    expect(await chargesOf(service)).toHaveLength(4);
  });

  it('guess what a column was meant to be', async () => {
    const { code, stderr } = await verify(['--email', 'emial', '--country', 'US']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/"emial".*"Email"/);
  });

  it('put all emails in one batch group with --email-country, whatever their row says', async () => {
    const columns = ['--email', 'Email', '--email-country', 'DE', '--phone', 'mobile'];
    const ended = await verify(
      columns.concat('--country-column', 'country', '--summary', 'summary.json'),
    );
    expect(ended.code, ended.stderr).toBe(0);
    const { batches } = JSON.parse((await read('summary.json')).join('\n')) as {
      batches: { type: string; country: string; addresses: number }[];
    };
    expect(batches).toMatchObject([
      { type: 'email', country: 'DE', addresses: 5 },
      { type: 'phone', country: 'US', addresses: 1 },
    ]);
    // Emails alone need no other country.
    expect((await verify(['--email', 'Email', '--email-country', 'US'])).code).toBe(0);
    expect((await verify(['--phone', 'mobile', '--email-country', 'US'])).code).toBe(2);
  });

  it('are those of calling codes with --country-from, and --country for the other rows', async () => {
    const numbers = [
      'id,Email,Mobile',
      '1,good1@sluice.test,+49 151 23456789',
      '2,good2@sluice.test,0044 7400 123456',
      '3,good3@sluice.test,(202) 555-0143',
      '4,good4@sluice.test,+220 301 2345',
      '5,good1@sluice.test,',
      '6,good2@sluice.test,+44 7400 123456',
      '',
    ].join('\n');
    const columns = ['--email', 'Email', '--phone', 'Mobile', '--country-from', 'mobile'];
    const ended = await verify([...columns, '--country', 'US', '--summary', 's.json'], numbers);
    expect(ended.code, ended.stderr).toBe(0);
    const { batches } = JSON.parse((await read('s.json')).join('\n')) as {
      batches: { type: string; country: string; addresses: number }[];
    };
    expect(
      batches.map(({ type, country, addresses }) => `${type} ${country} ${addresses}`).toSorted(),
    ).toEqual(['email DE 1', 'email GB 1', 'email US 2', 'phone DE 1', 'phone GB 1', 'phone US 1']);
    expect(await chargesOf(service)).toHaveLength(7);
    expect((await read('out.csv'))[4]).toContain('country_unsupported');
    // A number without a calling code has none where no country is given.
    await verify(columns, numbers);
    expect((await read('out.csv'))[3]).toContain('not_submitted,country_missing');
  });

  it('are those of the column, then of the calling code, then --country, row by row', async () => {
    const rows = [
      'id,Email,Mobile,Land',
      '1,good1@sluice.test,+49 151 23456789,GB',
      '2,good2@sluice.test,+49 151 23456788,',
      '3,good3@sluice.test,(202) 555-0143,',
      '4,good4@sluice.test,+49 151 23456787,Narnia',
      '',
    ].join('\n');
    const columns = ['--email', 'Email', '--phone', 'Mobile', '--country-column', 'Land'];
    const both = [...columns, '--country-from', 'Mobile', '--summary', 's.json'];
    const ended = await verify([...both, '--country', 'US'], rows);
    expect(ended.code, ended.stderr).toBe(0);
    const { batches } = JSON.parse((await read('s.json')).join('\n')) as {
      batches: { type: string; country: string; addresses: number }[];
    };
    expect(
      batches.map(({ type, country, addresses }) => `${type} ${country} ${addresses}`).toSorted(),
    ).toEqual(['email DE 1', 'email GB 1', 'email US 1', 'phone DE 1', 'phone GB 1', 'phone US 1']);
    // What is not understood is no empty cell.
    expect((await read('out.csv'))[4]).toContain('not_submitted,country_unsupported');
    // Without it, the end of the run says that the number has a calling code.
    const without = await verify(columns, rows);
    expect(codedOf(without, 'no_country')).toMatchObject([
      { missing: 2, calling_codes: { column: 'Mobile', rows: 1 } },
    ]);
    const other = ['--email', 'Email', '--phone', 'Mobile', '--phone', 'Office'];
    const given = await verify(
      [...other, '--country-column', 'Land', '--country-from', 'Office'],
      'Email,Mobile,Office,Land\ngood1@sluice.test,+49 151 23456789,,\n,,,US\n',
    );
    // That option is given once only.
    const [advice] = codedOf(given, 'no_country');
    expect(advice).toMatchObject({ missing: 1 });
    expect(advice).not.toHaveProperty('calling_codes');
    // A column that another one has the name of is called by its position.
    const twice = await verify(
      ['--phone', '#1', '--phone', '#2', '--prefix', '#2=t2', '--country-column', 'Land'],
      'Tel,Tel,Land\n,+49 151 23456789,\n',
    );
    expect(codedOf(twice, 'no_country')).toMatchObject([{ calling_codes: { column: '#2' } }]);
  });
});

describe('--unique', () => {
  const people = [
    'id,email,mobile,country',
    '1,good1@sluice.test,bad,US',
    '2,bad1@sluice.test,,US',
    '3,GOOD1@sluice.test ,+12025550143,DE',
    '4,,(202) 555-0143,US',
    '5,,,US',
    '6,bad1@sluice.test,+12025550199,US',
    '7,"a, b",,US',
    '8,"a, b",,US',
    '',
  ].join('\n');
  const both = [...email, '--phone', 'mobile'];

  it.each([
    [
      [...email, '--unique'],
      ['1', '2', '4', '5', '7', '8'],
    ],
    [
      ['--unique', ...email],
      ['1', '2', '4', '5', '7', '8'],
    ],
    [
      [...both, '--unique', 'email'],
      ['1', '2', '4', '5', '7', '8'],
    ],
    [
      [...both, '--unique', '#3'],
      ['1', '2', '3', '5', '6', '7', '8'],
    ],
    // The first of those that are kept.
    [
      [...both, '--unique=EMAIL', '--keep', 'mobile=valid'],
      ['3', '4', '6'],
    ],
  ])('%j writes the first row of each address, in the order of the list', async (args, kept) => {
    const ended = await verify([...args, '--rejects', 'rejects.csv', '--summary', 's'], people);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await ids('out.csv')).toEqual(kept);
    const all = [...kept, ...(await ids('rejects.csv'))];
    expect(all.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    expect(eventsOf(ended, 'outputs')).toMatchObject([
      {
        rows_left_out: 8 - kept.length,
        left_out_by: [...(args.includes('--keep') ? ['keep'] : []), 'unique'],
      },
    ]);
    const { rows_repeated: repeated } = JSON.parse((await read('s')).join(''));
    expect(repeated).toBe(args.includes('--keep') ? undefined : args.includes('#3') ? 1 : 2);
  });

  it('goes with --split-by, and with an output that streams', async () => {
    await writeFile(join(folder, 'list.csv'), people);
    const run = async (...args: string[]): Promise<EndedHere> =>
      runInProcess(
        ['verify', '--unique', 'list.csv', ...email, '--poll-interval', '5', ...args],
        inFolder(folder, service),
      );
    await run('--split-by', 'verdict', '-o', 'by');
    expect(await ids('by/valid.csv')).toEqual(['1']);
    expect(await ids('by/wrong.csv')).toEqual(['2']);
    expect((await run()).stdout.toString().trim().split('\n')).toHaveLength(7);
  });

  it('says what it takes where a word behind it is neither that nor a file', async () => {
    const ended = await verify([...both, '--unique', 'Mail'], people);
    expect(ended.code).toBe(6);
    expect(ended.stderr).toContain('--unique');
  });

  it.each([[[...both, '--unique']], [[...email, '--unique=id']]])(
    '%j does not say which column is meant, before anything is sent',
    async (args) => {
      const before = (await chargesOf(service)).length;
      expect((await verify(args, people)).code).toBe(2);
      expect(await chargesOf(service)).toHaveLength(before);
    },
  );
});
