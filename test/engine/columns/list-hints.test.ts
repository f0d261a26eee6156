import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  estimateRun,
  rowsSource,
  type RunProgress,
  type Source,
  type SuppressList,
} from '../../../src/index.js';
import { sqliteSource } from '../../../src/lists/sql/sqlite/index.js';
import { askSqlite } from '../../lists/sql/sqlite/ask-sqlite.js';
import { withFolder } from '../../service/with-service.js';
import { withListHints } from '../../../src/engine/columns/list-hints.js';
import { CellsChunk } from '../../../src/lists/rows/chunks/object-chunk.js';
import type { CellText, RowChunk } from '../../../src/lists/rows/chunks/row-chunk.js';

const address = { email: 'good1@sluice.test' };

/** What is reported before a list is sent. */
function noticed(
  rows: readonly object[],
  ...options: readonly [suppress?: readonly SuppressList[], types?: readonly string[]]
): Promise<readonly object[]> {
  const source = rowsSource(rows.map((row): Record<string, string> => ({ ...address, ...row })));
  return noticedIn(source, ...options);
}

async function noticedIn(
  source: Source,
  suppress: readonly SuppressList[] = [],
  types: readonly string[] = ['email'],
): Promise<readonly object[]> {
  const notices: object[] = [];
  await estimateRun({
    source,
    email: ['email'].filter((type) => types.includes(type)),
    phone: ['phone'].filter((type) => types.includes(type)),
    country: 'US',
    suppress,
    onProgress(progress) {
      if (
        progress.stage === 'notice' &&
        progress.code === 'opted_out' &&
        progress.isWarning === true
      )
        notices.push(progress.fields);
    },
  });
  return notices;
}

describe('rows that have opted out', () => {
  it('are counted before anything is sent, once for all columns that say so', async () => {
    const rows = [
      { 'Do Not Contact': '0', Status: 'subscribed', UNSUB_TIME: '', Note: '1' },
      { 'Do Not Contact': '1', Status: 'Unsubscribed', UNSUB_TIME: '', Note: '1' },
      { 'Do Not Contact': '0', Status: 'subscribed', UNSUB_TIME: '2024-11-12 08:00:00', Note: '1' },
    ];
    const columns = [
      { column: 'Do Not Contact', rows: 1 },
      { column: 'Status', rows: 1 },
      { column: 'UNSUB_TIME', rows: 1 },
    ];
    expect(await noticed(rows)).toEqual([
      { type: 'email', columns, rows: 2, sent: 2, of_query: false },
    ]);
    const consents = [{ 'Accepts Email Marketing': 'yes' }, { 'Accepts Email Marketing': 'no' }];
    expect(await noticed(consents)).toMatchObject([{ rows: 1 }]);
    expect(await noticed(consents.slice(0, 1))).toEqual([]);
  });

  it('are counted by the type of address that a column is about, where there is one to be sent', async () => {
    const rows = [
      { phone: '+14155550100', 'Accepts SMS Marketing': 'no', 'Accepts Marketing': 'yes' },
      { phone: '+14155550101', 'Accepts SMS Marketing': 'no', 'Accepts Marketing': 'no' },
      { phone: ' ', 'Accepts SMS Marketing': 'no', 'Accepts Marketing': 'yes' },
    ];
    // As many as a spreadsheet finds in the column.
    const columns = [{ column: 'Accepts SMS Marketing', rows: 3 }];
    const bySms = { type: 'phone', columns, rows: 3, sent: 2 };
    const byEmail = { type: 'email', columns: [{ column: 'Accepts Marketing', rows: 1 }] };
    expect(await noticed(rows, [], ['email'])).toMatchObject([byEmail]);
    expect(await noticed(rows, [], ['phone'])).toMatchObject([bySms]);
    const types = ['email', 'phone'];
    expect(await noticed(rows, [], types)).toMatchObject([byEmail, bySms]);
    const list = { source: rowsSource(rows.map(({ phone }) => ({ phone }))) };
    expect(await noticed(rows, [list], types)).toMatchObject([byEmail]);
    // One list serves both where no column tells them apart.
    const both = rows.map((row) => ({ phone: row.phone, Unsubscribed: row['Accepts Marketing'] }));
    expect(await noticed(both, [], types)).toMatchObject([{ type: null, rows: 2 }]);
  });

  it('are those that bounced, in a column of statuses', async () => {
    const rows = ['Cleaned', 'subscribed'].map((word) => ({ Status: word, Pool: word }));
    const columns = [{ column: 'Status', rows: 1 }];
    expect(await noticed(rows)).toMatchObject([{ columns }]);
  });

  it.each(['Werbesperre', 'Robinsonliste', 'Descadastrado'])('are those of %s', async (title) => {
    const columns = [{ column: title, rows: 1 }];
    expect(await noticed([{ [title]: 'x' }, { [title]: '' }])).toMatchObject([{ columns }]);
  });

  it('are counted in all rows of a long list', async () => {
    const rows = Array.from({ length: 1200 }, () => ({ HasOptedOutOfEmail: 'true' }));
    const columns = [{ column: 'HasOptedOutOfEmail', rows: 1200 }];
    const found = [{ type: 'email', columns, rows: 1200, sent: 1200 }];
    expect(await noticed(rows)).toMatchObject(found);
  });

  it('are said to be of a query, which can leave them out', async () => {
    const path = join(await withFolder(), 'crm.db');
    askSqlite(path, 'CREATE TABLE people (email, unsubscribed BOOLEAN)', 'SELECT 1');
    askSqlite(path, "INSERT INTO people VALUES ('good1@sluice.test', 1)", 'SELECT 1');
    const source = sqliteSource({ url: `sqlite:${path}`, query: 'SELECT * FROM people' });
    expect(await noticedIn(source)).toMatchObject([{ rows: 1, of_query: true }]);
  });

  it('are not looked for beyond the first rows where nothing says that there are any', async () => {
    const read = new Set<number>();
    class WatchedChunk extends CellsChunk {
      override text(row: number, column: number): CellText {
        read.add(row);
        return super.text(row, column);
      }
    }
    const chunk = new WatchedChunk(Array.from({ length: 1200 }, () => ['a@sluice.test', '']));
    async function* chunks(): AsyncGenerator<RowChunk> {
      yield chunk;
    }
    const header = ['email', 'Note'];
    const options = {
      optOutsOf: ['email'],
      isOfQuery: false,
      hasPhones: false,
      verified: () => [],
      isSent: () => true,
    } as const;
    const reading = withListHints({ header, chunks: chunks() }, options, () => undefined);
    for await (const same of reading.chunks) expect(same).toBe(chunk);
    expect(read.size).toBe(1000);
  });

  it('are none whose emails are suppressed', async () => {
    const rows = [
      { HasOptedOutOfEmail: 'true' },
      { email: 'b@b.test', HasOptedOutOfEmail: 'true' },
    ];
    const lists = (...emails: readonly string[]) => [
      { source: rowsSource(emails.map((email) => ({ email }))) },
    ];
    expect(await noticed(rows, lists('good1@sluice.test'))).toMatchObject([{ rows: 2, sent: 1 }]);
    expect(await noticed(rows, lists('good1@sluice.test', 'b.test'))).toEqual([]);
  });

  it('are none whose cells are not sent for another reason', async () => {
    const rows = [{ phone: '(202) 555-0143 / (202) 555-0144', DoNotCall: 'true' }];
    expect(await noticed(rows, [], ['phone'])).toEqual([]);
  });
});

describe('a header below a header', () => {
  it('is named where the first row has names of columns in place of addresses', async () => {
    const seen: object[] = [];
    const look = async (...emails: readonly string[]): Promise<void> =>
      lookAt('Contact', ...emails);
    const lookAt = async (title: string, ...emails: readonly string[]): Promise<void> => {
      await estimateRun({
        source: rowsSource(emails.map((email) => ({ [title]: email, E: 'x' }))),
        email: [title],
        country: 'US',
        onProgress(progress) {
          if (progress.stage === 'notice' && progress.code === 'second_header')
            seen.push(progress.fields);
        },
      });
    };
    await look('E-Mail', 'good1@sluice.test');
    expect(seen).toEqual([{ names: ['E-Mail'], skip_rows: null }]);
    await look('good1@sluice.test', 'email');
    await look('mail@sluice.test', 'good1@sluice.test');
    await look('contact', 'good1@sluice.test');
    await lookAt('E-Mail', 'no email', 'good1@sluice.test');
    expect(seen).toHaveLength(1);
  });
});

describe('a column of countries beside one country for all', () => {
  const people = [
    { phone: '020 7946 0123', Country: 'United Kingdom' },
    { phone: '030 1234567', Country: 'Germany' },
    { phone: '030 1234568', Country: '' },
    { phone: '030 1234569', Country: 'Germny' },
  ];

  function seeing(): { seen: object[]; onProgress: (progress: RunProgress) => void } {
    const seen: object[] = [];
    const onProgress = (progress: RunProgress): void => {
      if (progress.stage === 'notice' && progress.code === 'other_countries')
        seen.push(progress.fields);
    };
    return { seen, onProgress };
  }

  it.each(['Country', 'Country/Region', 'Land', 'Business Country/Region', 'Ctry', 'Market'])(
    'is named as %s where only emails are verified',
    async (title) => {
      const { seen, onProgress } = seeing();
      const rows = ['Germany', 'Deutschland', 'USA'].map((cell) => ({ ...address, [title]: cell }));
      const list = {
        source: rowsSource(rows),
        email: ['email'],
        country: 'DE',
        onProgress,
      } as const;
      await estimateRun(list);
      expect(seen).toMatchObject([{ column: title, rows: 1, read_as: 'DE', has_phones: false }]);
      await estimateRun({ ...list, source: rowsSource(rows), emailCountry: 'DE' });
      expect(seen).toHaveLength(1);
    },
  );

  it('is none where its cells may be anything else', async () => {
    const { seen, onProgress } = seeing();
    const rows = ['CA', 'DE', 'IN'].map((Market) => ({ ...address, Market }));
    await estimateRun({ source: rowsSource(rows), email: ['email'], country: 'US', onProgress });
    expect(seen).toEqual([]);
  });

  it('is named where phone numbers would be read as of that country', async () => {
    const { seen, onProgress } = seeing();
    const source = rowsSource(people);
    const phone = ['phone'] as const;
    await estimateRun({ source, phone, country: 'DE', onProgress });
    expect(seen).toEqual([
      { column: 'Country', rows: 1, of_rows: null, read_as: 'DE', has_phones: true, unread: 1 },
    ]);
    await estimateRun({ source, phone, country: 'DE', countryColumn: 'Country', onProgress });
    expect(seen).toHaveLength(1);
  });
});
