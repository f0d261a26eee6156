import { execFile } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { agreeToDoubts } from '../../../../src/cli/job/questions.js';
import {
  Client,
  estimateRun,
  run,
  rowsSink,
  rowsSource,
  streamRun,
  type DoubtfulColumn,
} from '../../../../src/index.js';
import type { Reporter } from '../../../../src/cli/terminal/reporter.js';
import { personAtTerminal } from '../../../cli/harness/at-terminal.js';
import { withFolder, withService } from '../../../service/with-service.js';

const rows = [{ email: 'Anna' }, { email: 'Bert' }, { email: 'good1@sluice.test' }];

describe('onDoubtfulColumns', () => {
  it.each(['durable', 'streaming'])('stops a %s run before anything is sent', async (kind) => {
    const { service } = await withService();
    const client = new Client(service);
    const seen: unknown[] = [];
    const stateDir = join(await withFolder(), 'state');
    const options = {
      source: rowsSource(rows),
      sink: rowsSink(() => undefined),
      client,
      email: ['email'] as const,
      country: 'US',
      onDoubtfulColumns: (columns: readonly unknown[]) => {
        seen.push(...columns);
        return false;
      },
    };
    const stopped = kind === 'durable' ? run({ ...options, stateDir }) : streamRun(options);
    await expect(stopped).rejects.toMatchObject({ code: 'declined' });
    expect(seen).toEqual([
      {
        name: 'email',
        type: 'email',
        filled: 3,
        malformed: 2,
        others: 0,
        ambiguous: 0,
        examples: [],
        ambiguousRows: [],
        needsPlus: false,
      },
    ]);
    expect(await client.listBatches()).toEqual([]);
    // Nothing is left that a run could go on with.
    await expect(access(stateDir)).rejects.toThrow();
  });

  it('is not asked where the cells are lists, which no batch can hold', async () => {
    const { service } = await withService();
    const client = new Client(service);
    const cells: readonly unknown[] = [['030 12345'], ['030 12346', '030 12347'], []];
    const source = rowsSource(cells.map((phones) => ({ phones })));
    const options = { source, phone: ['phones'] as const, country: 'DE' };
    const refused = { code: 'column_of_lists', option: 'splitCells' };
    await expect(estimateRun(options)).rejects.toMatchObject(refused);
    const objects = cells.map((_, at): { phones: unknown } => ({
      phones: [{ number: `030 1234${at}` }],
    }));
    const split = {
      phone: ['phones'] as const,
      country: 'DE',
      source: rowsSource(objects),
      splitCells: true,
    };
    const others = { code: 'column_of_lists', fault: 'unsupported' };
    for (const splitCells of [true, false]) {
      await expect(estimateRun({ ...split, splitCells })).rejects.toMatchObject(others);
    }
    const sink = rowsSink(() => undefined);
    const stateDir = join(await withFolder(), 'state');
    const onDoubtfulColumns = () => true;
    const started = run({ ...options, sink, client, stateDir, onDoubtfulColumns });
    await expect(started).rejects.toMatchObject(refused);
    expect(await client.listBatches()).toEqual([]);
  });

  it('says for lists of objects which jq makes a row of each of them', async () => {
    const rows = [
      {
        'a b': {
          emails: [{ '@type': 'work', 'e-mail': 'a@x.example' }, { 'e-mail': 'b@y.example' }],
        },
      },
      { 'a b': { emails: [] } },
      { 'a b': {} },
    ];
    const path = join(await withFolder(), 'list.jsonl');
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const list = { source: path, email: ['a b.emails'], country: 'US', splitCells: true } as const;
    const error = await estimateRun(list).catch((error: unknown) => String(error));
    const [command = ''] = /jq -c '[^']*'/.exec(String(error)) ?? [];
    expect(command).toBe(
      `jq -c '.["a b.emails_e-mail"] = ((.["a b"].emails[]? | .["e-mail"]?) // null)'`,
    );
    const whereItIs = `command -v jq > /dev/null || exit 0; ${command} "$0"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', whereItIs, path]);
    if (stdout === '') return;
    const made = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(made).toEqual(
      [
        [rows[0], 'a@x.example'],
        [rows[0], 'b@y.example'],
        [rows[1], null],
        [rows[2], null],
      ].map(([row, address]) => ({ ...(row as object), 'a b.emails_e-mail': address })),
    );
  });

  const estimated = async (phones: readonly string[], country = 'DE') => {
    const seen: DoubtfulColumn[] = [];
    await estimateRun({
      source: rowsSource(phones.map((phone) => ({ phone }))),
      phone: ['phone'],
      country,
      onDoubtfulColumns: (columns) => {
        seen.push(...columns);
        return true;
      },
    });
    return seen;
  };

  it('is reported numbers that may have lost the + of another calling code', async () => {
    const mixed = ['447400123456', '41791234503', '491711234500', '1715554401', '441171234567', ''];
    expect(await estimated([...mixed, ...mixed])).toEqual([
      {
        name: 'phone',
        type: 'phone',
        filled: 10,
        malformed: 0,
        others: 0,
        ambiguous: 8,
        examples: ['447•••••••••', '417••••••••', '491•••••••••'],
        ambiguousRows: [1, 2, 3, 5, 7],
        needsPlus: false,
      },
    ]);
  });

  it('is not warned of national numbers without their 0, some of which begin like calling codes', async () => {
    const places = [
      '30',
      '40',
      '89',
      '221',
      '211',
      '711',
      '69',
      '341',
      '351',
      '4131',
      '431',
      '4531',
    ];
    const fixed = places.flatMap((place) =>
      ['234567', '3456789', '45678901'].map((number) => place + number),
    );
    const mobiles = ['15122345678', '1601234567', '1711234567', '17612345678', '15771234567'];
    expect(await estimated([...fixed, ...mobiles, ...mobiles, ...mobiles])).toEqual([]);
    // One may be chance.
    expect(await estimated(['447400123456', '1711234567', '0171 1234568'])).toEqual([]);
  });

  const numbers = (count: number, start: string): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${start}${String(1_000_000 + at).slice(1)}`);

  it('is reported calling codes of other countries than the one for all rows', async () => {
    const own = [...numbers(60, '+49 151 10'), ...numbers(15, '0049 151 20')];
    const foreign = [...numbers(20, '+44 7400 '), ...numbers(15, '0041 79 3')];
    const [reported, ...more] = await estimated([...own, ...foreign, ...numbers(40, '0151 30')]);
    expect(more).toEqual([]);
    expect(reported).toMatchObject({ filled: 150, malformed: 0, ambiguous: 0 });
    expect(reported?.foreign).toEqual({
      cells: 35,
      of: 110,
      national: 40,
      read_as: 'DE',
      countries: [
        { country: 'GB', cells: 20 },
        { country: 'CH', cells: 15 },
      ],
    });
  });

  it('is reported numbers that are not of the countries of their rows, where these are a tenth', async () => {
    const reports = async (unfit: readonly string[], country: string) => {
      const seen: DoubtfulColumn[] = [];
      const of = (phones: readonly string[], rowCountry: string) =>
        phones.map((phone) => ({ phone, country: rowCountry }));
      await estimateRun({
        source: rowsSource([
          ...of(numbers(40, '0151 30'), 'DE'),
          ...of(numbers(10, '+44 7400 '), 'GB'),
          ...of(unfit, country),
        ]),
        phone: ['phone'],
        countryColumn: 'country',
        onDoubtfulColumns: (columns) => seen.push(...columns) > 0,
      });
      return seen.map(({ unfit: found }) => found);
    };
    expect(await reports(numbers(5, '020 7'), 'DE')).toEqual([{ cells: 5, of: 45 }]);
    expect(await reports(numbers(5, '044 6'), 'CH')).toEqual([]);
    expect(await reports(numbers(4, '020 7'), 'DE')).toEqual([]);
    expect(await reports(numbers(10, '+44 7400 1'), 'DE')).toEqual([]);
    // Of GS no numbers are known, and with text beside nobody can say.
    expect(await reports(numbers(10, '71'), 'GS')).toEqual([]);
    expect(await reports(numbers(10, 'Tel. 030 '), 'FR')).toEqual([]);
  });

  it('is reported numbers that do not look like those of the one country for all rows', async () => {
    const american = ['(415) 555-0100', '(212)555-0101', '303-555-0102', '+1 415 555 0103'];
    const [reported, ...more] = await estimated([...american, '0151 23456789']);
    expect(more).toEqual([]);
    expect(reported?.unfit).toEqual({ cells: 3, of: 4, read_as: 'DE' });
    expect(await estimated(['(415) 555-0100', '0151 23456789', '030 901820'])).toEqual([]);
    expect(await estimated(['(415) 555-0100', '415 5550100', '04155 501000'])).toEqual([]);
    // In their own form these are sure to be of another country.
    const abroad = numbers(10, '').map((digits) => `(212) 652-${digits.slice(2)}`);
    const mixed = [...numbers(90, '0151 23'), ...abroad];
    const [many, ...others] = await estimated(mixed);
    expect(others).toEqual([]);
    expect(many?.unfit).toEqual({ cells: 10, of: 100, read_as: 'DE' });
    expect(await estimated(mixed.slice(0, -1))).toEqual([]);
    expect(await estimated([...mixed, ...numbers(110, '030 901')])).toEqual([]);
  });

  const german = [
    ...numbers(10, '0151 23'),
    ...['030 1', '040 2', '089 3', '0221 ', '0341 '].flatMap((place) => numbers(6, `${place}5`)),
  ];

  it.each([
    ['country', { country: 'AT' }],
    ['country', { country: 'AT', countryColumn: 'none' }],
    ['country_column', { countryColumn: 'land' }],
    ['country', { country: 'US' }],
  ] as const)(
    'is reported the country that fits the numbers, and what gives %s',
    async (by, given) => {
      const seen: DoubtfulColumn[] = [];
      const rows = [...german, ...german].map((phone) => ({ phone, land: 'AT', none: '' }));
      const options = { source: rowsSource(rows), phone: ['phone'] as const, ...given };
      const estimate = await estimateRun({
        ...options,
        onDoubtfulColumns: (columns) => seen.push(...columns) > 0,
      });
      const misread = {
        of: 40,
        read_as: 'country' in given ? given.country : 'AT',
        given_by: by,
        fitting: [{ country: 'DE', cells: 40 }],
      };
      expect(seen).toMatchObject([{ name: 'phone', misread }]);
      expect(seen[0]?.unfit).toBeUndefined();
      expect(estimate.columns[0]?.misread).toMatchObject(misread);
      const { service } = await withService();
      const refused = streamRun({
        ...options,
        sink: rowsSink(() => undefined),
        client: new Client(service),
        onDoubtfulColumns: () => false,
      });
      const option = by === 'country' ? 'country' : 'countryColumn';
      await expect(refused).rejects.toMatchObject({ code: 'declined', option });
    },
  );

  it('is reported whether most of a column is of another country, or its beginning alone', async () => {
    const mobiles = numbers(100, '0151 23');
    const isOfOther = async (...cells: readonly string[]) => {
      const [reported] = await estimated([...mobiles, ...cells], 'US');
      expect(reported?.misread).toBeDefined();
      return reported?.isOfOtherCountry ?? false;
    };
    expect(await isOfOther()).toBe(true);
    expect(await isOfOther(...numbers(95, '+1 202 2'))).toBe(true);
    expect(await isOfOther(...numbers(105, '+1 202 2'))).toBe(false);
    // Beyond those that are compared, and in the part of which one of many is examined.
    const more = numbers(900, '0152 23');
    expect(await isOfOther(...more, ...numbers(2000, '202 2'))).toBe(false);
  });

  const national = ['71 5433', '72 1899', '75 9064', '60 4135'].flatMap((place) =>
    ['012', '735', '948', '261', '507'].map((number) => `01${place}${number}`),
  );

  it.each([
    ['of other rows', { countryColumn: 'land' }, ['DE', 'DE']],
    ['of rows without one', { countryColumn: 'land', country: 'DE' }, []],
  ] as const)('is reported first the country %s', async (_, given, others) => {
    const seen: DoubtfulColumn[] = [];
    const rows = [
      ...national.map((phone) => ({ phone, land: 'CH' })),
      ...others.map((land) => ({ phone: '030 901820', land })),
    ];
    await estimateRun({
      source: rowsSource(rows),
      phone: ['phone'],
      ...given,
      onDoubtfulColumns: (columns) => seen.push(...columns) > 0,
    });
    const fitting = seen[0]?.misread?.fitting.map(({ country }) => country);
    expect(fitting?.[0]).toBe('DE');
    expect(fitting?.length).toBeGreaterThan(1);
  });

  it('is reported first the countries whose calling codes the column has', async () => {
    const german = [...numbers(20, '+49 171 89'), ...numbers(10, '+43 664 61')];
    const fittingOf = async (cells: readonly string[]) => {
      const [reported] = await estimated(cells, 'CH');
      return reported?.misread?.fitting.map(({ country }) => country);
    };
    expect((await fittingOf([...german, ...national]))?.slice(0, 2)).toEqual(['DE', 'AT']);
    expect((await fittingOf(national))?.[0]).not.toBe('DE');
  });

  it('is reported no other country where the given one fits, though others take these numbers', async () => {
    expect(await estimated(german)).toEqual([]);
    expect(await estimated([...german, ...numbers(6, '030 99999')])).toEqual([]);
  });

  it.each([
    // [with the country's own code, without one, abroad]: people write a + for those abroad alone.
    [1000, 0, 100],
    [0, 950, 50],
    [50, 900, 50],
    [20, 200, 10],
    [3, 10, 4],
  ])(
    'is not warned of %i own, %i national and a few foreign numbers',
    async (own, home, abroad) => {
      const cells = [
        ...numbers(own, '+49 151 10'),
        ...numbers(home, '0151 20'),
        ...numbers(abroad, '+44 7400 '),
      ];
      expect(await estimated(cells)).toEqual([]);
    },
  );

  it('is not warned of calling codes where each row has its country', async () => {
    const seen: DoubtfulColumn[] = [];
    const source = rowsSource(numbers(20, '+44 7400 ').map((phone) => ({ phone, land: 'DE' })));
    for (const countries of [{ countryColumn: 'land' }, { countryFrom: 'phone' }] as const) {
      await estimateRun({
        source,
        phone: ['phone'],
        ...countries,
        country: 'DE',
        onDoubtfulColumns: (columns) => {
          seen.push(...columns);
          return true;
        },
      });
    }
    expect(seen).toEqual([]);
  });

  it('is answered by whoever is at the terminal', async () => {
    const reporter = { doubtful: () => undefined } as unknown as Reporter;
    const signal = new AbortController().signal;
    const column = {
      name: 'email',
      type: 'email',
      filled: 3,
      malformed: 2,
      others: 0,
      ambiguous: 0,
      examples: [],
      ambiguousRows: [],
      needsPlus: false,
    } as const;
    const options = (given: readonly string[]) => ({ has: (name: string) => given.includes(name) });
    for (const [answer, given, goesOn] of [
      ['y', [], true],
      ['n', [], false],
      ['', [], false],
      ['n', ['yes'], true],
    ] as const) {
      const person = personAtTerminal(answer);
      const ask = agreeToDoubts(options(given) as never, false, { person, reporter, signal });
      expect(await ask([column])).toBe(goesOn);
      expect(person.received().includes('Verify them all the same?')).toBe(given.length === 0);
    }
  });
});

describe('a country column of which hardly a cell is a country', () => {
  const listOf = (cells: readonly string[]) =>
    rowsSource(cells.map((Currency, at) => ({ email: `good${at}@sluice.test`, Currency })));
  const currencies = Array.from({ length: 30 }, () => 'EUR');

  it.each(['a run', 'a stream', 'an estimate'])(
    'stops %s before anything is sent',
    async (kind) => {
      const { service } = await withService();
      const client = new Client(service);
      const stateDir = join(await withFolder(), 'state');
      const onDoubtfulColumns = () => true;
      const list = {
        source: listOf([...currencies, 'DE']),
        email: ['email'] as const,
        countryColumn: 'Currency' as const,
        onDoubtfulColumns,
      };
      const options = { ...list, client, sink: rowsSink(() => undefined) };
      const started =
        kind === 'a run'
          ? run({ ...options, stateDir })
          : kind === 'a stream'
            ? streamRun(options)
            : estimateRun(list);
      await expect(started).rejects.toMatchObject({
        code: 'country_missing',
        option: 'countryColumn',
      });
      expect(await client.listBatches()).toEqual([]);
      await expect(access(stateDir)).rejects.toThrow();
    },
  );

  it('is warned of where there is a country for the rows without one', async () => {
    const warned: object[] = [];
    const noticesOf = async (cells: readonly string[], emailCountry?: string) =>
      estimateRun({
        source: listOf(cells),
        email: ['email'],
        countryColumn: 'Currency',
        country: 'DE',
        emailCountry,
        onProgress(progress) {
          if (
            progress.stage === 'notice' &&
            ['few_countries', 'car_codes'].includes(progress.code ?? '')
          )
            warned.push(progress);
        },
      });
    await noticesOf(currencies);
    expect(warned).toMatchObject([
      { isWarning: true, fields: { column: 'Currency', cells: 30, countries: 0 } },
    ]);
    // Not of a few, nor where most rows have none of their own.
    await noticesOf(currencies.slice(0, 5));
    await noticesOf([...currencies.map(() => ''), 'DE', 'EUR']);
    await noticesOf(currencies, 'DE');
    expect(warned).toHaveLength(1);
    // Codes on cars are read, and said; F beside M is no country.
    await noticesOf(['CH', ...'A A D D D D D D D D F'.split(' ')]);
    const read = [
      { cell: 'D', country: 'DE', rows: 8 },
      { cell: 'A', country: 'AT', rows: 2 },
      { cell: 'F', country: 'FR', rows: 1 },
    ];
    expect(warned.slice(1)).toMatchObject([{ code: 'car_codes', fields: { read } }]);
    await noticesOf('F M F M F M F M F M'.split(' '));
    expect(warned.slice(2)).toMatchObject([
      { code: 'few_countries', fields: { cells: 10, countries: 0 } },
      { code: 'car_codes' },
    ]);
  });
});
