import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { csvRows } from '../../harness/csv-cells.js';
import { killBehind } from '../../harness/run-sluice.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

const list = [
  'email,mobile,country',
  'Good1@Sluice.test,0170 1234567,DE',
  'good2@sluice.test,+49 171 7654321,DE',
  'good3@café.example,(202) 555-0143,US',
  'good4@rival.example,,US',
  '"good5@sluice.test, x",,US',
  'good1@sluice.test,0049 170 1234567,DE',
  '',
].join('\n');

const command =
  'verify list.csv -o out.csv --email email --country-column country --poll-interval 5';

async function verify(args: string, input = list): Promise<EndedHere> {
  await writeFile(join(folder, 'list.csv'), input);
  return runInProcess([...command.split(' '), ...args.split(' ')], inFolder(folder, service));
}

async function rows(name = 'out.csv'): Promise<readonly Record<string, string>[]> {
  return csvRows(await readFile(join(folder, name)));
}

async function paid(): Promise<readonly string[]> {
  return (await chargesOf(service)).map(({ address }) => address).toSorted();
}

describe('--suppress', () => {
  it.each([
    ['u.txt', 'GOOD1@sluice.test\nGOOD3@xn--caf-dma.example\n@Rival.example\n', 'u.txt', [1]],
    // No header: its first line is not lost.
    ['u.csv', 'good2@sluice.test\ngood1@sluice.test\n', 'u.csv', [2, 3]],
    ['u.csv', 'rival.example\ncafé.example\n', 'u.csv', [0, 1]],
    ['u.csv', 'who,reason\nA <good2@sluice.test>,left\n,\n', 'u.csv', [0, 2, 3]],
    ['u.csv', 'Email,When\ngood2@sluice.test,1\nrival.example,2\ncafé.example,\n', 'u.csv', [0]],
    ['u.csv', 'a,b\ngood1@sluice.test,good2@sluice.test\n', 'u.csv#b', [0, 2, 3]],
    ['u#1.csv', 'a,b\ngood1@sluice.test,good2@sluice.test\n', 'u#1.csv#b', [0, 2, 3]],
    ['u#1.csv', 'a,b#b\ngood1@sluice.test,good2@sluice.test\n', 'u#1.csv#b#b', [0, 2, 3]],
  ])('%j with %j leaves the row of its addresses unpaid', async (name, text, option, sent) => {
    await writeFile(join(folder, name), text);
    const ended = await verify(`--suppress ${option}`);
    expect(ended.code, ended.stderr).toBe(0);
    const four = [
      'Good1@Sluice.test',
      'good2@sluice.test',
      'good3@café.example',
      'good4@rival.example',
    ];
    expect(await paid()).toEqual(four.filter((_, at) => sent.includes(at)).toSorted());
    const reasons = (await rows()).map((row) => row['email_reason']);
    const expected = [...four.keys()].map((at) => (sent.includes(at) ? '' : 'suppressed'));
    expect(reasons).toEqual([...expected, 'contains_comma', expected[0]]);
  });

  it('sends no address that is written with a name, as a link, beside others or with a dot behind it', async () => {
    await writeFile(join(folder, 'stop.txt'), 'good1@sluice.test\n@rival.example\n');
    const cells = [
      'Ada <good1@sluice.test>',
      'mailto:Good1@sluice.test',
      '<good1@sluice.test>',
      'good2@sluice.test; good1@sluice.test',
      'good1@sluice.test.',
      'mailto:sales@rival.example',
      'Sales (sales@rival.example)',
    ];
    const ended = await verify(
      '--suppress stop.txt',
      ['email,country', ...[...cells, 'x.good1@sluice.test'].map((cell) => `${cell},US`), ''].join(
        '\n',
      ),
    );
    expect(ended.code, ended.stderr).toBe(0);
    const reasons = (await rows()).map((row) => row['email_reason']);
    expect(reasons).toEqual([...cells.map(() => 'suppressed'), '']);
    expect(await paid()).toEqual(['x.good1@sluice.test']);
  });

  it('keeps no row whose address is on a list, whatever else keeps its cell from being sent', async () => {
    await writeFile(join(folder, 'u.txt'), 'good1@sluice.test\n+12025550143\n');
    const input = [
      'email,other,mobile,country',
      'good2@sluice.test,,+1 202 555 0143,ZZ',
      'good2@sluice.test,,(1-202) 555-0143,',
      'good2@sluice.test,,(202) 555-0143 / (202) 555-0144,US',
      'good2@sluice.test,,"(202) 555-0144, (202) 555-0143",US',
      'good2@sluice.test,good1@sluice.test,,ZZ',
      'good2@sluice.test,"x <good1@sluice.test>, foo",,US',
      'good2@sluice.test,"""good1@sluice.test""",,US',
      'good2@sluice.test,go\u200bod1@sluice.test,,US',
      'good2@sluice.test,good3@sluice.test,+1 202 555 0144,ZZ',
      'good2@sluice.test,"good3@sluice.test, x","(202) 555-0145, (202) 555-0144",US',
      'good2@sluice.test,x@192.168.0.1,(202) 555 0145 / 202,US',
      '',
    ].join('\n');
    const args = '--email other --phone mobile --email-country US --suppress u.txt';
    const ended = await verify(`${args} --keep email=valid --rejects no.csv`, input);
    expect(ended.code, ended.stderr).toBe(0);
    const reasonsOf = async (name: string): Promise<readonly string[]> =>
      (await rows(name)).map((row) => `${row['other_reason']} ${row['mobile_reason']}`);
    expect(await reasonsOf('out.csv')).toEqual([
      ' country_unsupported',
      'contains_comma contains_comma',
      'domain_invalid several_numbers',
    ]);
    expect(await reasonsOf('no.csv')).toEqual([
      ...['ZZ', '', 'several', 'comma'].map(() => 'empty suppressed'),
      ...['ZZ', 'named', 'quoted', 'invisible'].map(() => 'suppressed empty'),
    ]);
    expect(await paid()).toEqual(['good2@sluice.test', 'good3@sluice.test']);
  });

  it('keeps no other address of a split cell, nor pays for it', async () => {
    await writeFile(join(folder, 'u.txt'), 'good1@sluice.test\n+12025550143\n');
    const input = [
      'email,mobile,country',
      'good1@sluice.test; good2@sluice.test,,US',
      'Jo <good3@sluice.test>,+1 202 555 0144 / (202) 555-0143,US',
      '"good4@sluice.test, good5@sluice.test",,US',
      '',
    ].join('\n');
    const args = '--phone mobile --suppress u.txt --split-cells --keep valid,none';
    const ended = await verify(`${args} --rejects no.csv`, input);
    expect(ended.code, ended.stderr).toBe(0);
    expect(await paid()).toEqual(['3', '4', '5'].map((at) => `good${at}@sluice.test`));
    expect(codedOf(ended, 'suppressed_beside')).toMatchObject([{ cells: 2 }]);
    expect((await rows()).map((row) => row['email'])).toEqual([
      'good4@sluice.test',
      'good5@sluice.test',
    ]);
    const reasons = (await rows('no.csv')).map((row) => [
      row['email_reason'],
      row['mobile_reason'],
    ]);
    expect(reasons).toEqual([
      ['suppressed', 'empty'],
      ['suppressed', 'empty'],
      ['', 'suppressed'],
      ['', 'suppressed'],
    ]);
  });

  it('knows a phone number in whatever form, and says what it cannot read', async () => {
    await writeFile(
      join(folder, 'stop.txt'),
      '+49170 1234567\n+1 202-555-0143\n0171 7654321\nnobody\n',
    );
    const ended = await verify('--phone mobile --country AT --suppress stop.txt --provenance');
    expect(ended.code, ended.stderr).toBe(0);
    // The third may be a number of any country.
    expect(codedOf(ended, 'suppress_list_unread')).toMatchObject([
      { cells: 3, without_country: 1, unread: 1, rows: [4] },
    ]);
    const found = (await rows()).map((row) => [row['mobile_reason'], row['mobile_submitted']]);
    expect(found).toEqual([
      ['suppressed', ''],
      ['suppressed', ''],
      ['suppressed', ''],
      ['empty', ''],
      ['empty', ''],
      ['suppressed', ''],
    ]);
  });

  it('reads a number by the country beside it, knows it without its plus sign and beside text, and doubts a list of nearly all', async () => {
    const stop = ['0151 17049009,DE', '0664 1043612,AT', '+4915117049001,'];
    const cells = [
      ...stop.slice(0, 2),
      '4915117049001,DE',
      '0151/17049001 ab 18 Uhr,DE',
      '+49 664 1043612,DE',
    ];
    const others = Array.from({ length: 17 }, (_, at) => `0151 170480${at + 10},DE`);
    const write = async (name: string, lines: readonly string[]): Promise<void> =>
      writeFile(join(folder, name), ['phone,country', ...lines, ''].join('\n'));
    await write('list.csv', [...cells, ...others]);
    await write('stop.csv', [...stop, ...others]);
    const args =
      'verify list.csv -o out.csv --phone phone --country-column country --country US --suppress stop.csv --poll-interval 5';
    const ended = await runInProcess(args.split(' '), inFolder(folder, service));
    expect(ended.code, ended.stderr).toBe(0);
    expect(await paid()).toEqual(['+496641043612']);
    const counts = { type: 'phone', suppressed: 21, cells: 22 };
    expect(eventsOf(ended, 'mostly_suppressed')).toMatchObject([
      { severity: 'warning', ...counts },
    ]);
    expect(eventsOf(ended, 'verdict')).toMatchObject([
      { verdict: expect.stringMatching(/, 21 suppressed\b/) as string },
    ]);
  });

  it('keeps no such row, counts it in a plan, and beats a history', async () => {
    await writeFile(join(folder, 'u.txt'), 'rival.example\n');
    await writeFile(join(folder, 'others.txt'), 'nobody@x.example\nnowhere.example\n');
    const unused = await verify('--history h --suppress others.txt --quiet');
    expect(unused.code).toBe(0);
    expect(codedOf(unused, 'nothing_suppressed')).toMatchObject([
      { severity: 'warning', lists: ['others.txt'], cells: 2 },
    ]);
    const before = await paid();
    const dry = await verify('--suppress u.txt --dry-run --summary s.json');
    expect(dry.code, dry.stderr).toBe(0);
    expect(JSON.parse(await readFile(join(folder, 's.json'), 'utf8'))).toMatchObject({
      email: { addresses: 3, not_submitted: { suppressed: 1, contains_comma: 1 } },
    });
    const args = '--suppress u.txt --history h --keep valid,none --rejects no.csv';
    const ended = await verify(args);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'nothing_suppressed')).toEqual([]);
    expect(await paid()).toEqual(before);
    expect((await rows('no.csv')).map((row) => row['email_reason'])).toContain('suppressed');
    expect((await rows()).map((row) => row['email_reason'])).not.toContain('suppressed');
  });

  it('is no part of the share of valid addresses', async () => {
    await writeFile(join(folder, 'u.txt'), 'rival.example\n');
    const input = 'email,country\ngood1@sluice.test,US\ngood4@rival.example,US\n';
    const ended = await verify('--suppress u.txt', input);
    expect(eventsOf(ended, 'column_figures')).toMatchObject([
      { figures: { rows: 2, suppressed: 1, verified: 1, valid: 1, 'not submitted': 1 } },
    ]);
    const [{ verdict } = { verdict: '' }] = eventsOf(ended, 'verdict');
    expect(verdict).toMatch(/\b100 %.*\b1\b/);
  });

  it.each([
    ['-o u.csv --suppress u.csv', 2],
    ['--rejects u.csv --keep valid --suppress u.csv', 2],
    ['--suppress none.csv', 6],
    ...['empty.txt', 'empty.csv', 'header.csv', 'unread.txt'].flatMap(
      (name): [string, number][] => [
        [`--suppress ${name}`, 8],
        [`--suppress ${name} --dry-run`, 8],
        [`--suppress good.txt --suppress ${name}`, 8],
      ],
    ),
    ['--suppress u.csv#city', 8],
    ['--suppress u.csv', 2],
    ['--suppress u.csv#who', 2],
    ['--exclude u.csv', 2],
  ])('%s ends before anything is sent', async (args, code) => {
    const lists = {
      'u.csv': 'name,city\nAnn,Rome\n',
      'empty.txt': '',
      'empty.csv': '',
      'header.csv': 'Email Address,Name\n',
      'unread.txt': 'nobody\n',
      'good.txt': 'good1@sluice.test\n',
      'out.csv': 'old\n',
    };
    for (const [name, text] of Object.entries(lists)) await writeFile(join(folder, name), text);
    expect((await verify(args)).code).toBe(code);
    expect(await paid()).toEqual([]);
    expect(await readFile(join(folder, 'u.csv'), 'utf8')).toContain('Ann');
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('old\n');
  });
});

it('a column of a suppress list without an address is named, and not called an empty list', async () => {
  await writeFile(join(folder, 'u.csv'), 'name,address\nAnn,ann@x.example\n');
  const ended = await verify('--suppress u.csv#name --json-log');
  expect(ended.code).toBe(8);
  expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'input_suspect', column: 'name' }]);
  expect(await paid()).toEqual([]);
});

it('reads all sheets of a suppress list, and takes no hash of an address for a phone number', async () => {
  const book = new ExcelJS.Workbook();
  for (const [name, ...addresses] of [
    ['Read me'],
    ['2025', 'good1@sluice.test'],
    ['2026', 'good2@sluice.test'],
  ]) {
    const rows = addresses.map((address) => [address, 'left']);
    book.addWorksheet(name).addRows([['Address', 'Why'], ...rows]);
  }
  await book.xlsx.writeFile(join(folder, 'u.xlsx'));
  const ended = await verify('--suppress u.xlsx');
  expect(ended.code, ended.stderr).toBe(0);
  expect(codedOf(ended, 'suppress_list')).toMatchObject([{ list: 'u.xlsx', cells: 2 }]);
  expect(await paid()).toEqual(['good3@café.example', 'good4@rival.example']);
  for (const hash of ['5d41402abc4b2a76b9719d911017c592', '7d793037a0760186574b0282f2f435e7']) {
    await writeFile(join(folder, 'u.csv'), `email\n${hash}\n`);
    const refused = await verify('--suppress u.csv --json-log');
    expect(refused.code, refused.stderr).toBe(8);
    expect(eventsOf(refused, 'error')).toMatchObject([{ code: 'input_suspect' }]);
  }
});

it('warns of sheets of a suppress list that lack its named column', async () => {
  const book = new ExcelJS.Workbook();
  for (const [name, title, address] of [
    ['2025', 'Email', 'good1@sluice.test'],
    ['2026', 'E-Mail', 'good2@sluice.test'],
  ]) {
    book.addWorksheet(name).addRows([
      [title, 'Why'],
      [address, 'left'],
    ]);
  }
  await book.xlsx.writeFile(join(folder, 'u.xlsx'));
  const ended = await verify('--suppress u.xlsx#Email');
  expect(ended.code, ended.stderr).toBe(0);
  expect(codedOf(ended, 'suppress_list_unread')).toMatchObject([{ cells: 1, sheets: ['2026'] }]);
});

describe('a run that was killed', () => {
  const addresses = Array.from({ length: 30 }, (_, at) => `good${at}@sluice.test`);
  // The last row repeats what is above it: nothing of it is written.
  const cells = [...addresses, `${addresses[7] ?? ''}; ${addresses[20] ?? ''}`];
  const thirty = ['email,country', ...cells.map((each) => `${each},US`), ''].join('\n');
  const args = '--batch-size 5 --concurrency 1 --unique --split-cells';

  it.each([
    ['the same list', 'good3@sluice.test\ngood28@sluice.test\n'],
    [
      'a longer list',
      'good3@sluice.test\ngood28@sluice.test\ngood4@sluice.test\ngood29@sluice.test\n',
    ],
  ])('goes on with %s: nothing is paid twice, nor sent that is on it', async (_, later) => {
    const unsubscribed = join(folder, 'u.txt');
    await writeFile(unsubscribed, 'good3@sluice.test\ngood28@sluice.test\n');
    await writeFile(join(folder, 'list.csv'), thirty);
    const all = [...command.split(' '), ...args.split(' '), '--suppress', 'u.txt'];
    const options = inFolder(folder, service);
    expect((await killBehind(all, 40, options)).signal).toBe('SIGKILL');
    const before = new Set(await paid());
    expect(before.size).toBeGreaterThan(0);
    await writeFile(unsubscribed, later);
    const ended = await runInProcess(all, options);
    expect(ended.code, ended.stderr).toBe(0);
    const suppressed = later.trim().split('\n');
    const charged = await paid();
    expect(new Set(charged).size).toBe(charged.length);
    expect(charged.filter((each) => suppressed.includes(each) && !before.has(each))).toEqual([]);
    const out = await rows();
    expect(out.map((row) => row['email'])).toEqual(addresses);
    expect(
      out.filter((row) => row['email_reason'] === 'suppressed').map((row) => row['email']),
    ).toEqual(addresses.filter((each) => suppressed.includes(each)));
  });

  describe('and began with options that leave out', () => {
    const kept = '--suppress u.txt --keep valid --rejects no.csv';
    const small = '--batch-size 1 --concurrency 1';

    beforeEach(async () => {
      await writeFile(join(folder, 'u.txt'), 'good4@rival.example\n');
      expect((await verify(`${small} ${kept} --max-credits 1`)).code).toBe(5);
      expect(await paid()).toHaveLength(1);
    });

    it('sends nothing without --suppress, in a dry run neither', async () => {
      const dry = await verify(`${small} --quiet --dry-run`);
      expect(eventsOf(dry, 'unfinished_run')).toMatchObject([{ action: 'stop' }]);
      const ended = await verify(`${small} --quiet`);
      expect(ended.code).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'state_mismatch' }]);
      expect(await paid()).toHaveLength(1);
    });

    it('sends what was suppressed with --on-change carry, and warns', async () => {
      const ended = await verify(`${small} --quiet --on-change carry`);
      expect(ended.code, ended.stderr).toBe(0);
      expect(codedOf(ended, 'options_left_out')).toMatchObject([
        { severity: 'warning', options: ['suppress', 'keep', 'rejects'] },
      ]);
      expect(await paid()).toContain('good4@rival.example');
    });

    it('warns of the others, and of none that are given again', async () => {
      const ended = await verify(`${small} --quiet --suppress u.txt`);
      expect(ended.code, ended.stderr).toBe(0);
      expect(codedOf(ended, 'options_left_out')).toMatchObject([
        { severity: 'warning', options: ['keep', 'rejects'] },
      ]);
      expect(await paid()).not.toContain('good4@rival.example');
    });
  });
});
