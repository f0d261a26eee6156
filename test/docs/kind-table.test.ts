import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kindsPath, kindTable } from '../../scripts/kind-table.mjs';
import { typeOf as duckdb } from '../../src/databases/duckdb/kinds.js';
import { typeOf as mysql } from '../../src/databases/mysql/kinds.js';
import { typeOf as postgres } from '../../src/databases/postgres/kinds.js';
import { typeOf as sqlite } from '../../src/databases/sqlite/kinds.js';
import { isJsonKind } from '../../src/formats/jsonl-writer.js';
import { parquetForm } from '../../src/formats/parquet/parquet-form.js';
import { isCellKind } from '../../src/formats/xlsx/number-cell.js';
import { factsOfKind } from '../../src/rows/kind-tally.js';
import { kindNames, printKind } from '../../src/rows/kinds.js';

it('docs/kinds.md says what the code makes of each kind (npm run kinds writes it anew)', async () => {
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
