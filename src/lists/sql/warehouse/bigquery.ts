import type { PartKind } from '../../files/partitions/parts-folder.js';
import {
  byFormat,
  escapedText,
  integersAs,
  isCells,
  lines,
  type LoadDialect,
  typesByKind,
  unlessNested,
  untilMicros,
} from './load-dialect.js';

const mostFiles = 10_000;

export const bigquery: LoadDialect = {
  label: 'BigQuery',
  isRun: false,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  nameParts: 3,
  quote: (name) => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``,
  ignoresCase: true,
  longestName: { most: 300, unit: 'characters' },
  refusedName:
    /[!"$()*,./;?@[\\\]^`{}~]|^(?:_table_|_file_|_partition|_row_timestamp|__root__|_colidentifier)/i,
  text: 'STRING',
  typeOf: typesByKind({
    ...integersAs('INT64'),
    // Read as the signed type: large values would become negative.
    uint64: byFormat(undefined, 'NUMERIC(20)'),
    decimal: decimalType,
    boolean: 'BOOL',
    float32: 'FLOAT64',
    float64: 'FLOAT64',
    date: 'DATE',
    time: untilMicros('TIME'),
    timestamp: untilMicros('DATETIME'),
    timestamptz: untilMicros('TIMESTAMP'),
    json: unlessNested('JSON'),
    binary: 'BYTES',
    uuid: byFormat('BYTES', 'STRING'),
  }),
  places: { form: /^gs:\/\/[^\s'"*?\\]+$/, example: 'gs://bucket/verified/' },
  load({ table, columns, manifest, from, prefix, suffix }) {
    const { format, header, delimiter = ',', quote, parts } = manifest;
    const names =
      parts.length > mostFiles ? [`${prefix}*${suffix}`] : parts.map(({ name }) => name);
    const uris = names.map((name) => escapedText(from + name));
    const forms = { csv: 'CSV', tsv: 'CSV', jsonl: 'NEWLINE_DELIMITED_JSON', parquet: 'PARQUET' };
    const options = [
      `format = '${forms[format]}'`,
      ...(isCells(format)
        ? [
            `skip_leading_rows = ${header ? 1 : 0}`,
            `field_delimiter = ${escapedText(delimiter)}`,
            `quote = ${escapedText(quote ?? '')}`,
            'allow_quoted_newlines = TRUE',
          ]
        : []),
      `uris = [${uris.join(', ')}]`,
    ];
    // The names in a Parquet file are fixed.
    const definitions = columns.map(({ quoted, type }) => `${quoted} ${type}`);
    const list = format === 'parquet' ? '' : ` (\n${lines(definitions)}\n)`;
    return [`LOAD DATA INTO ${table}${list}\nFROM FILES (\n${lines(options)}\n);`];
  },
};

/** Digits before and after the point, of the smaller and the larger type. */
function decimalType({ precision, scale = 0 }: PartKind): string | undefined {
  if (precision === undefined) return 'BIGNUMERIC';
  const whole = precision - scale;
  const digits = scale === 0 ? `(${precision})` : `(${precision}, ${scale})`;
  if (scale >= 0 && scale <= 9 && whole <= 29) return `NUMERIC${digits}`;
  return scale >= 0 && scale <= 38 && whole <= 38 ? `BIGNUMERIC${digits}` : undefined;
}
