import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { emailLine } from '../../../../src/engine/addresses/email.js';
import { phoneLine } from '../../../../src/engine/addresses/phone/phone-line.js';
import type { CountryCode } from '../../../../src/contract/countries.js';
import type { Service } from '../../../../src/service/index.js';
import { chargesOf } from '../../../cli/harness/charges.js';
import { runShell } from '../../../cli/harness/run-sluice.js';
import { Page } from '../../../docs/page.js';
import { parseScript } from '../../../lists/sql/warehouse/grammars.js';
import { withService, withFolder } from '../../../service/with-service.js';
import { askDuckdb } from '../../../lists/sql/duckdb/ask-duckdb.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../lists/sql/harness/new-name.js';

vi.setConfig({ testTimeout: 300_000 });

const page = new Page('docs/reference/large-lists.md');

/** The blocks of one language of a chapter, in order. */
function blocks(heading: string, language: string): readonly string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm');
  return [...page.section(heading).matchAll(fence)].map(([, text = '']) => text);
}

const people = 70;
/** Several spellings of the same addresses, and rows without one. */
const cells: readonly (string | null)[] = Array.from({ length: people }, (_, at) => [
  `good${at}@sluice.test`,
  at % 3 === 0 ? `  GOOD${at}@Sluice.test\t` : `good${at}@sluice.test`,
  at % 5 === 0 ? `\ufeffGood${at}@sluice.test\u00a0` : null,
  at % 7 === 0 ? `andr\u00e9${at}@sluice.test` : ' ',
  at % 7 === 0 ? `Andre\u0301${at}@sluice.test` : '',
]).flat();

const addresses = new Set(
  cells.flatMap((cell) => {
    const address = emailLine(cell ?? undefined);
    return 'key' in address ? [address.key] : [];
  }),
);

let folder: string;
let service: Service;
let url: string;
beforeEach(async () => {
  folder = await withFolder();
  const database = newName();
  await askPostgres(`CREATE DATABASE ${database}`);
  const own = new URL(inject('postgresUrl'));
  own.pathname = `/${database}`;
  url = own.href;
  ({ service } = await withService({ apiKey: 'a-key' }));
});

async function runBlock(text: string): Promise<void> {
  const env = {
    SLUICE_BASE_URL: service.baseUrl,
    SLUICE_API_KEY: 'a-key',
    SLUICE_STORE: url,
    DATABASE_URL: url,
  };
  const ended = await runShell(text, { cwd: folder, env });
  expect(ended).toMatchObject({ code: 0 });
}

/** Each address was paid for once, and each row came back once, with a result where it has an address. */
async function expectJoined(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const paid = (await chargesOf(service)).map(({ address }) => {
    const line = emailLine(address);
    return 'key' in line ? line.key : address;
  });
  expect(paid.toSorted()).toEqual([...addresses].toSorted());
  expect(rows.map(({ id }) => Number(id))).toEqual(cells.map((_, at) => at));
  expect(rows.map(({ email_verification: bucket }) => bucket)).toEqual(
    cells.map((cell) => ((cell ?? '').trim() === '' ? null : 'verified')),
  );
}

describe('docs/reference/large-lists.md', () => {
  it('has partitions made by DuckDB, verified, and joined by it', async () => {
    const [cut = '', joined = ''] = blocks('## DuckDB', 'sql');
    const here = (sql: string): string =>
      sql.replaceAll(/'((?:contacts|parts|verified)[^' ]*)'/g, `'${folder}/$1'`);
    const database = join(folder, 'list.duckdb');
    const values = cells.map((cell, at) => `(${at}, ${cell === null ? 'null' : `'${cell}'`})`);
    await askDuckdb(
      database,
      `create table contacts as select * from (values ${values.join()}) as t (id, email)`,
      here("copy contacts to 'contacts.parquet' (format parquet)"),
      here(cut),
    );
    for (const block of blocks('## DuckDB', 'sh no-run')) await runBlock(block);
    await askDuckdb(database, here(joined));
    const rows = await askDuckdb(
      database,
      here("select * from 'contacts-verified.parquet' order by id"),
    );
    await expectJoined(rows as readonly Readonly<Record<string, unknown>>[]);
  });

  it('has partitions made by PostgreSQL, verified, and joined by it', async () => {
    await askPostgres('create table contacts (id int, email text)', [], url);
    await askPostgres(
      'insert into contacts select * from unnest($1::int[], $2::text[])',
      [cells.map((_, at) => at), cells],
      url,
    );
    const steps = page.section('## PostgreSQL').matchAll(/^```(sql|sh no-run)\n([^]*?)^```$/gm);
    for (const [, language, text = ''] of steps) {
      if (language === 'sql') await askPostgres(text, [], url);
      else await runBlock(text);
    }
    // The results can be loaded again.
    await runBlock(blocks('## PostgreSQL', 'sh no-run').at(-1) ?? '');
    await expectJoined(await askPostgres('select * from contacts_verified order by id', [], url));
  });

  it('has all spellings of a phone number in one partition', async () => {
    const [, expression = ''] = /`(right\(regexp_replace\(.*?\), 4\))`/.exec(page.text) ?? [];
    const numbers: readonly (readonly [CountryCode, ...(readonly string[])])[] = [
      ['DE', '+49 171 2345678', '0171/2345678', '0049 171 2345678', '(0171) 234-56-78'],
      ['US', '+1 (202) 555-0143', '202.555.0143', "'2025550143", '1-202-555-0143'],
      ['GB', '+44 (0) 20 7946 0018', '020 7946 0018', '00442079460018'],
      ['IT', '+39 06 6982 0000', '06 69820000', '0039 0669820000'],
      ['AR', '+54 9 11 2345-6789', '011 15-2345-6789'],
      ['FR', '+33 6 12 34 56 78', '06 12 34 56 78', '06.12.34.56.78'],
    ];
    for (const [country, ...spellings] of numbers) {
      const keys = spellings.map((cell) => {
        const line = phoneLine(cell, country);
        return 'key' in line ? line.key : line.reason;
      });
      expect([...new Set(keys)]).toEqual([expect.stringMatching(/^\+\d+$/)]);
      const values = spellings.map((cell) => `('${cell.replaceAll("'", "''")}')`).join();
      const rows = await askPostgres(
        `select distinct ${expression} as p from (values ${values}) as t (phone)`,
      );
      expect(rows).toHaveLength(1);
    }
  });

  it('has a statement for Snowflake that its grammar takes', async () => {
    const [snowflake = ''] = blocks('## Snowflake, BigQuery, Spark', 'sql');
    await parseScript(snowflake, 'snowflake');
  });
});
