import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Estimate, Summary } from '../../../../src/index.js';
import type { Service } from '../../../../src/service/index.js';
import { withFolder, withService } from '../../../service/with-service.js';
import { chargesOf } from '../../harness/charges.js';
import { connectTo, inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { codedOf, eventsOf } from '../../harness/logged-events.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';

let folder: string;
let service: Service;
beforeEach(async () => {
  folder = await withFolder();
  ({ service } = await withService());
});

async function verify(list: string, ...more: string[]): Promise<EndedHere> {
  await writeFile(join(folder, 'list.csv'), list);
  return runInProcess(
    ['verify', 'list.csv', '--country', 'DE', '--poll-interval', '5', ...more],
    inFolder(folder, service),
  );
}

async function columnOf(name: string, file = 'out.csv'): Promise<readonly string[]> {
  const text = await readFile(join(folder, file), 'utf8');
  const [header = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => row[header.indexOf(name)] ?? '');
}

const cells = [
  '0170 1234567',
  '+49 (0) 170 1234567',
  "'+491701234567",
  '1701234567.0',
  '491701234567',
  '4930123456',
  '4.91702E+11',
  '030 123456 ext. 7',
  '',
];
const list = `phone,id\n${cells.map((cell, row) => `${cell},${row}\n`).join('')}`;
const phones = ['--phone', 'phone', '-o', 'out.csv'];

describe('a list of phones as people write them', () => {
  it('has its countries in a column, and numbers that the service has no record of', async () => {
    const ended = await verify(
      'id,phone,land\n1,0171-3920002,CH\n2,+491701234567,DE\n',
      ...phones,
      '--country-column',
      'land',
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(await columnOf('phone_reason')).toEqual(['no_record', '']);
  });

  it('sends what each cell surely means once, and what may mean two numbers as it is written', async () => {
    const ended = await verify(list, ...phones);
    expect(ended.code, ended.stderr).toBe(0);
    const addresses = (await chargesOf(service)).map(({ address }) => address);
    expect(addresses.filter((address) => address === '+491701234567')).toHaveLength(1);
    expect(addresses).toContain('+4930123456');
    expect(await columnOf('phone_verification')).toEqual([
      ...Array.from({ length: 6 }, () => 'verified'),
      'not_submitted',
      'no_result',
      'not_submitted',
    ]);
    expect((await columnOf('phone_reason'))[6]).toBe('scientific_notation');
    expect(codedOf(ended, 'missing_digits')).toMatchObject([{ column: 'phone', cells: 1 }]);
  });

  const submitted = [
    ...Array.from({ length: 4 }, () => '+491701234567'),
    '491701234567',
    '+4930123456',
    '',
    '030 123456 ext. 7',
    '',
  ];

  it('says with --provenance what was sent for each cell, also where a history knew it', async () => {
    const options = ['--provenance', '--history', 'history'];
    expect((await verify(list, ...phones, ...options)).code).toBe(0);
    expect(await columnOf('phone_submitted')).toEqual(submitted);
    const [header] = (await readFile(join(folder, 'out.csv'), 'utf8')).split('\n');
    expect(header).toMatch(/,phone_submitted,phone_verified_at,phone_source,phone_batch_uuid$/);
    const paid = (await chargesOf(service)).length;

    const again = [...options, '--keep', 'valid', '--rejects', 'rejects.csv', '--report', 'r.html'];
    expect((await verify(list, ...phones, ...again)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(paid);
    const rows = [...(await columnOf('id')), ...(await columnOf('id', 'rejects.csv'))];
    const sent = [
      ...(await columnOf('phone_submitted')),
      ...(await columnOf('phone_submitted', 'rejects.csv')),
    ];
    expect(sent).toEqual(rows.map((row) => submitted[Number(row)]));
    expect(await columnOf('phone_source')).toContain('history');
  });

  it('says it in other formats, and while it streams', async () => {
    expect((await verify(list, '--phone', 'phone', '-o', 'o.jsonl', '--provenance')).code).toBe(0);
    const lines = (await readFile(join(folder, 'o.jsonl'), 'utf8')).trim().split('\n');
    expect(
      lines.map((line) => (JSON.parse(line) as { phone_submitted: string }).phone_submitted ?? ''),
    ).toEqual(submitted);
    const streamed = await verify(list, '--phone', 'phone', '--provenance');
    expect(streamed.code, streamed.stderr).toBe(0);
    await writeFile(join(folder, 'streamed.csv'), streamed.stdout);
    expect(await columnOf('phone_submitted', 'streamed.csv')).toEqual(submitted);
  });

  it('shows a cell of each calling code that becomes something else, so that a terminal can show it', async () => {
    const strange = `phone\n" +493012345 "\n+44 20 7946 0018\n+49 30\u00a0123450\n"\u202e030 123456\u001b[2J"\n${cells.join('\n')}\n`;
    const requests = countRequests(service);
    const ended = await verify(strange, ...phones, '--dry-run', '--summary', 's.json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(String.raw`"phone" "+49 30\u00a0123450" as "+4930123450"`);
    expect(ended.stderr.match(/"phone" ".*?" as "/g)).toHaveLength(2);
    // oxlint-disable-next-line no-control-regex
    expect(ended.stderr).not.toMatch(/[\u001b\u202e\u00a0]/);
    expect(await readFile(join(folder, 's.json'), 'utf8')).not.toContain('4930123450');
    expect(requests.filter((request) => !request.startsWith('GET '))).toEqual([]);
    for (const quiet of ['--quiet', '--json-log']) {
      const unseen = await verify(strange, ...phones, '--dry-run', quiet);
      expect(unseen.stderr).not.toContain('in another form');
      expect(unseen.stderr).not.toContain('4930123450');
    }
  });
});

describe('numbers of several countries under one country', () => {
  const cells = [
    ...Array.from({ length: 6 }, (_, at) => `+4474001234${at}0`),
    ...Array.from({ length: 5 }, (_, at) => `+4917112345${at}0`),
    '07577 523497',
    '0171 1234567',
  ];
  const list = `phone\n${cells.join('\n')}\n`;
  const german = ['--phone', 'phone'];
  const foreign = { cells: 6, of: 11, national: 2, read_as: 'DE' };
  const countries = [{ country: 'GB', cells: 6 }];

  it('are reported before the run, at its end, in the summary and by the dry run', async () => {
    const ended = await verify(list, ...german, '--summary', 's.json', '-o', 'out.csv');
    expect(ended.code, ended.stderr).toBe(0);
    const doubt = { column: 'phone', doubt: 'foreign', foreign: { ...foreign, countries } };
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([doubt]);
    // Said before it was sent, and not once more.
    expect(codedOf(ended, 'foreign_numbers')).toEqual([]);
    const { columns } = JSON.parse(await readFile(join(folder, 's.json'), 'utf8')) as Summary;
    expect(columns[0]?.foreign).toMatchObject(foreign);
    const counted = await verify(list, ...german, '--dry-run', '--summary', 's.json');
    expect(eventsOf(counted, 'doubtful_column')).toMatchObject([doubt]);
    const estimate = JSON.parse(await readFile(join(folder, 's.json'), 'utf8')) as Estimate;
    expect(estimate.columns[0]?.foreign).toMatchObject(foreign);
  });

  it('name the country instead of the column where the given one is wrong, and are not sent', async () => {
    const national = ['151 23', '176 45', '1520 2', '40 ', '89 '].flatMap((place) =>
      ['512345', '678901', '432198', '290817'].map((number) => `0${place}${number}\n`),
    );
    await writeFile(join(folder, 'list.csv'), `phone\n${national.join('')}`);
    const american = [
      'list.csv',
      '--phone',
      'phone',
      '--country',
      'US',
      '--quiet',
      '-o',
      'out.csv',
    ];
    const env = connectTo(service);
    const refused = await runInProcess(['verify', ...american], { cwd: folder, env });
    expect(refused.code, refused.stderr).toBe(2);
    const misread = { read_as: 'US', given_by: 'country', fitting: [{ country: 'DE' }] };
    expect(eventsOf(refused, 'doubtful_column')).toMatchObject([{ doubt: 'misread', misread }]);
    expect(eventsOf(refused, 'error')).toMatchObject([{ code: 'declined', option: '--country' }]);
    // Some look like numbers of the given country, and hardly one is valid there.
    const places = ['30', '40', '89', '221', '711'];
    const fixed = Array.from(
      { length: 25 },
      (_, at) => `0${places[at % 5] ?? ''} ${2345678 + 9 * at}`,
    );
    const few = [
      `phone\n${fixed.join('\n')}\n`,
      `phone\n${Array.from({ length: 12 }, (_, at) => `0171 ${2345670 + at}`).join('\n')}\n`,
    ];
    for (const list of few) {
      await writeFile(join(folder, 'list.csv'), list);
      const stopped = await runInProcess(['verify', ...american], { cwd: folder, env });
      expect(stopped.code, stopped.stderr).toBe(2);
      expect(eventsOf(stopped, 'error')).toMatchObject([{ code: 'declined', option: '--country' }]);
      const yes = await runInProcess(['verify', ...american, '--yes', '--dry-run'], {
        cwd: folder,
        env,
      });
      expect(yes.code, yes.stderr).toBe(0);
    }
    expect(await chargesOf(service)).toHaveLength(0);
  });

  it('are reported without a word of national ones where all have a calling code', async () => {
    const international = `phone\n${cells.slice(0, -2).join('\n')}\n`;
    const ended = await verify(international, ...german, '-o', 'out.csv');
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([
      { foreign: { ...foreign, national: 0, countries } },
    ]);
  });
});

describe('a column of digits that begin with calling codes', () => {
  const digits = ['447400123456', '41791234503', '491711234500', '1715554401'];
  const list = `phone\n${digits.map((cell) => `${cell}\n`).join('')}`;

  it('is reported before the run and at its end, and stops nothing', async () => {
    const ended = await verify(list, ...phones, '--summary', 'summary.json');
    expect(ended.code, ended.stderr).toBe(0);
    const found = { column: 'phone', rows: [2, 3, 4] };
    const examples = ['447•••••••••', '417••••••••', '491•••••••••'];
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([
      { ...found, doubt: 'missing_plus', filled: 4, ambiguous: 3, examples },
    ]);
    expect(codedOf(ended, 'missing_plus')).toEqual([]);
    expect(ended.stderr).not.toMatch(/7400123456|1234503/);
    const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
    expect(summary.columns[0]?.ambiguous).toBe(3);
    expect(await chargesOf(service)).toHaveLength(4);
  });

  it('is reported with the country whose calling code all begin with', async () => {
    const numbers = Array.from({ length: 20 }, (_, at) => `336123456${at + 10}\n`);
    const ended = await verify(`phone\n${numbers.join('')}`, ...phones, '--dry-run');
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([
      { doubt: 'missing_plus', ambiguous: 20, ambiguous_country: 'FR', needs_plus: false },
    ]);
    // Where that country is named already, it makes nothing clear.
    const own = '491701234500\n'.repeat(3);
    const named = await verify(`phone\n${own}`, ...phones, '--dry-run');
    const [doubt] = eventsOf(named, 'doubtful_column');
    expect(doubt).toMatchObject({ doubt: 'missing_plus', needs_plus: true });
    expect(doubt).not.toHaveProperty('ambiguous_country');
    const mixed = await verify(list, ...phones, '--dry-run');
    expect(eventsOf(mixed, 'doubtful_column')[0]).not.toHaveProperty('ambiguous_country');
  });

  it('has no calling code for --country-from, which says so before it streams or writes', async () => {
    const from = ['--phone', 'phone', '--country-from', 'phone'];
    for (const more of [['-o', 'out.csv'], ['--dry-run'], []]) {
      const ended = await verify(list, ...from, ...more);
      expect(codedOf(ended, 'no_calling_codes'), more.join(' ')).toMatchObject([
        { column: 'phone', cells: 4 },
      ]);
    }
    const some = await verify(`${list}+447400123456\n`, ...from, '--dry-run');
    expect(codedOf(some, 'no_calling_codes')).toEqual([]);
  });
});

it('says of a single number without a result that its + may be missing', async () => {
  const list = 'phone\n030 / 9018 2010\n030 9018 2011\n12025550143\n0301\n';
  const ended = await verify(list, '--phone', 'phone', '-o', 'out.csv');
  expect(eventsOf(ended, 'doubtful_column')).toMatchObject([
    { doubt: 'missing_plus', ambiguous: 1, rows: [4] },
    { doubt: 'unfit' },
  ]);
});

describe('national numbers of two countries', () => {
  const rows = [
    ...Array.from({ length: 12 }, (_, at) => `a${at}@sluice-test.co.uk,020 7123 45${at + 10}`),
    ...Array.from({ length: 9 }, (_, at) => `b${at}@sluice-test.co.uk,0121 234 56${at + 10}`),
    ...Array.from({ length: 30 }, (_, at) => `c${at}@sluice-test.de,030 / 9018 20${at + 10}`),
  ].join('\n');
  const options = ['--email', 'email', '--phone', 'phone', '-o', 'out.csv'];
  it('are reported to fit the other country, where the domains of their emails are of it', async () => {
    const ended = await verify(`email,phone\n${rows}\n`, ...options);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'numbers_do_not_fit')).toMatchObject([
      { cells: 21, of: 51, unfit: 21, country: 'DE', fitting: { country: 'GB', cells: 21 } },
    ]);
  });

  it('are reported to fit the country given for all rows, not one that takes any ten digits', async () => {
    const american = Array.from(
      { length: 30 },
      (_, at) => `a${at}@sluice-test.de,(415) 555-01${at + 10},${at % 2 ? 'GB' : 'FR'}\n`,
    ).join('');
    await writeFile(join(folder, 'list.csv'), `email,phone,land\n${american}`);
    const ended = await runInProcess(
      ['verify', 'list.csv', ...options, '--country-column', 'land', '--country', 'US'],
      inFolder(folder, service),
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'numbers_do_not_fit')).toMatchObject([
      { unfit: 30, country: null, fitting: { country: 'US', cells: 30 } },
    ]);
  });

  it('are not reported to be of another country where the cells hold no number', async () => {
    const numbers = rows.split('\n').filter((row) => row.includes('030 /'));
    const none = Array.from({ length: 12 }, (_, at) => `d${at}@sluice-test.de,n/a`);
    const ended = await verify(`email,phone\n${[...numbers, ...none].join('\n')}\n`, ...options);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'numbers_do_not_fit')).toEqual([]);
  });

  it.each([
    ['have a calling code of their own', (at: number) => `+49 1 23456${at + 10}`],
    ['are links', (at: number) => `tel:030 / 9018 20${at + 10}`],
    ['have a word beside', (at: number) => `Tel. 030-9018 20${at + 10}`],
    ['already begin with a plus sign', (at: number) => `+800 1234 56${at + 10}`],
  ])('are not reported to be of another country where they %s', async (_, number) => {
    const text = Array.from({ length: 12 }, (__, at) => `a${at}@sluice.test,${number(at)}\n`);
    const ended = await verify(`email,phone\n${text.join('')}`, ...options);
    expect(ended.code, ended.stderr).toBe(0);
    expect(codedOf(ended, 'numbers_do_not_fit')).toEqual([]);
  });

  it('are of no country that is known, where no email is beside them', async () => {
    const ended = await verify(
      `email,phone\n${rows.replaceAll(/\.(?:de|co\.uk),/g, '.com,')}\n`,
      ...options,
    );
    expect(codedOf(ended, 'numbers_do_not_fit')).toMatchObject([
      { unfit: 21, country: 'DE', fitting: null },
    ]);
  });
});

describe('a column that hardly looks like what it is verified as', () => {
  const wrong = `id,name,email\n${['Anna', 'Bert', 'Carl']
    .map((name, row) => `${row},${name},good${row}@sluice.test\n`)
    .join('')}`;

  it.each([
    ['email', ['-o', 'out.csv']],
    ['phone', ['-o', 'out.csv']],
    ['email', []],
  ])('is named before anything is sent (%s, %j)', async (type, output) => {
    const ended = await verify(wrong, `--${type}`, 'name', ...output);
    expect(ended.code, ended.stderr).toBe(0);
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([
      { column: 'name', type, doubt: 'malformed', malformed: 3, filled: 3 },
    ]);
    expect(ended.stderr).not.toContain('Anna');
  });

  it('is not reported of one that does', async () => {
    const ended = await verify(wrong, '--email', 'email', '-o', 'out.csv');
    expect(eventsOf(ended, 'doubtful_column')).toEqual([]);
    const dry = await verify(wrong, '--email', 'name', '-o', 'out.csv', '--dry-run');
    expect(eventsOf(dry, 'doubtful_column')).toHaveLength(1);
  });

  it('ends the run with 2 when not one cell is right, unless it is meant, and says what is there', async () => {
    const rows = Array.from(
      { length: 12 },
      (_, row) => `+4930123450${10 + row},good${row}@sluice.test\n`,
    );
    const swapped = `email,phone\n${rows.join('')}`;
    const ended = await verify(swapped, '--email', 'email', '-o', 'out.csv');
    expect(ended.code, ended.stderr).toBe(2);
    const swap = { malformed: 12, filled: 12, others: 12 };
    expect(eventsOf(ended, 'doubtful_column')).toMatchObject([{ column: 'email', ...swap }]);
    expect(await chargesOf(service)).toEqual([]);
    const phones = await verify(swapped, '--phone', 'phone', '-o', 'out.csv');
    expect(phones.code, phones.stderr).toBe(2);
    expect(eventsOf(phones, 'doubtful_column')).toMatchObject([{ column: 'phone', ...swap }]);
    const meant = await verify(swapped, '--email', 'email', '-o', 'out.csv', '--yes');
    expect(meant.code, meant.stderr).toBe(0);
  });
});
