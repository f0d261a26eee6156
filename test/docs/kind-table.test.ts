import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kindsPath, kindTable } from '../../scripts/kind-table.mjs';
import { typeOf as duckdb } from '../../src/lists/sql/duckdb/kinds.js';
import { typeOf as mysql } from '../../src/lists/sql/mysql/kinds.js';
import { typeOf as postgres } from '../../src/lists/sql/postgres/kinds.js';
import { typeOf as sqlite } from '../../src/lists/sql/sqlite/kinds.js';
import { isJsonKind } from '../../src/lists/jsonl/jsonl-writer.js';
import { parquetForm } from '../../src/lists/parquet/parquet-form.js';
import { isCellKind } from '../../src/lists/xlsx/number-format.js';
import { factsOfKind } from '../../src/lists/rows/values/kind-tally.js';
import { kindNames, printKind } from '../../src/lists/rows/values/kinds.js';

it('docs/reference/kinds.md says what the code makes of each kind (npm run kinds writes it anew)', async () => {
  const page = await kindTable({
    kindNames,
    printKind,
    factsOfKind,
    isJsonKind,
    isCellKind,
    parquetForm,
    postgres,
    mysql,
    sqlite,
    duckdb,
  });
  expect(readFileSync(kindsPath, 'utf8')).toBe(page);
});
