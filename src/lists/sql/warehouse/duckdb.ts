import { typeOf } from '../duckdb/statements.js';
import { quoteName } from '../tables/table-plan.js';
import { factsOfKind } from '../../rows/values/kind-tally.js';
import {
  insertInto,
  isBinaryText,
  isCells,
  lines,
  plainText,
  type LoadDialect,
} from './load-dialect.js';

export const duckdb: LoadDialect = {
  label: 'DuckDB',
  isRun: true,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  nameParts: 3,
  quote: quoteName,
  ignoresCase: true,
  longestName: { most: 10_000, unit: 'bytes' },
  text: 'VARCHAR',
  typeOf(kind, format) {
    if (isBinaryText(kind, format)) return undefined;
    // It reads no ISO 8601 durations.
    if (kind.name === 'interval' && format !== 'parquet') return undefined;
    return typeOf(factsOfKind(kind));
  },
  places: {
    form: /^(?:s3|gs|gcs|r2|azure|https?):\/\/[^\s'"*?[\]]+$/,
    example: 's3://bucket/verified/',
    isLocal: true,
  },
  load(load) {
    const { columns, manifest, from } = load;
    const { format, header, delimiter = ',', quote, parts } = manifest;
    const files = `[${parts.map(({ name }) => plainText(from + name)).join(', ')}]`;
    const types = `{${columns.map(({ name, type }) => `${plainText(name)}: ${plainText(type)}`).join(', ')}}`;
    const cells = [
      `delim = ${plainText(delimiter)}`,
      `quote = ${plainText(quote ?? '')}`,
      `escape = ${plainText(quote ?? '')}`,
      `header = ${String(header)}`,
      "nullstr = ''",
      'auto_detect = false',
      "compression = 'gzip'",
      `columns = ${types}`,
    ];
    const json = [
      "format = 'newline_delimited'",
      "compression = 'gzip'",
      'maximum_object_size = 268435456',
      `columns = ${types}`,
    ];
    const reader = isCells(format) ? 'read_csv' : format === 'jsonl' ? 'read_json' : 'read_parquet';
    const options = isCells(format) ? cells : format === 'jsonl' ? json : [];
    const selected = columns.map(({ quoted, kind }) =>
      kind.nested === true ? `CAST(${quoted} AS JSON)` : quoted,
    );
    return [insertInto(load, selected, `${reader}(\n${lines([files, ...options])}\n)`)];
  },
  begin: ['BEGIN;'],
  end: ['COMMIT;'],
};
