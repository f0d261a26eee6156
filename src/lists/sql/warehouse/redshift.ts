import { quoteName } from '../tables/table-plan.js';
import {
  byFormat,
  namesOf,
  plainText,
  type LoadDialect,
  typesByKind,
  unlessNested,
  untilMicros,
} from './load-dialect.js';

const text = 'VARCHAR(65535)';
const mostDigits = 38;

export const redshift: LoadDialect = {
  label: 'Redshift',
  isRun: false,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  needsQuotes: true,
  nameParts: 3,
  quote: quoteName,
  ignoresCase: true,
  longestName: { most: 127, unit: 'bytes' },
  text,
  typeOf: typesByKind({
    decimal: ({ precision = mostDigits, scale = 10 }) =>
      precision > mostDigits || scale >= mostDigits ? undefined : `DECIMAL(${precision}, ${scale})`,
    boolean: 'BOOLEAN',
    // All are stored in 32 bits there.
    int8: byFormat('INTEGER', 'SMALLINT'),
    int16: byFormat('INTEGER', 'SMALLINT'),
    uint8: byFormat('INTEGER', 'SMALLINT'),
    int32: 'INTEGER',
    uint16: 'INTEGER',
    int64: 'BIGINT',
    // Read as the signed types: large values would become negative.
    uint32: byFormat(undefined, 'BIGINT'),
    uint64: byFormat(undefined, 'DECIMAL(20, 0)'),
    float32: 'REAL',
    float64: 'DOUBLE PRECISION',
    date: 'DATE',
    time: (kind, format) => (format === 'parquet' ? undefined : untilMicros('TIME')(kind, format)),
    timestamp: untilMicros('TIMESTAMP'),
    // Parquet's moments are timestamps in UTC.
    timestamptz: (kind, format) =>
      untilMicros(format === 'parquet' ? 'TIMESTAMP' : 'TIMESTAMPTZ')(kind, format),
    json: (kind, format) => unlessNested(format === 'parquet' ? text : 'SUPER')(kind, format),
    binary: 'VARBYTE(1024000)',
    uuid: byFormat(undefined, 'VARCHAR(36)'),
  }),
  places: { form: /^s3:\/\/[^\s'"*?\\]+$/, example: 's3://bucket/verified/' },
  load({ table, columns, manifest, from, prefix }) {
    const { format, header, delimiter = ',' } = manifest;
    const list = format === 'parquet' ? '' : ` (${namesOf(columns)})`;
    const cells = [
      'FORMAT AS CSV',
      `DELIMITER AS ${plainText(delimiter)}`,
      ...(header ? ['IGNOREHEADER AS 1'] : []),
      'GZIP',
      'EMPTYASNULL',
      "DATEFORMAT AS 'auto'",
      "TIMEFORMAT AS 'auto'",
    ];
    const forms = {
      csv: cells,
      tsv: cells,
      // Names fold to lower case there, those of JSON do not.
      jsonl: [
        "FORMAT AS JSON 'auto ignorecase'",
        'GZIP',
        "DATEFORMAT AS 'auto'",
        "TIMEFORMAT AS 'auto'",
      ],
      parquet: ['FORMAT AS PARQUET'],
    };
    // Without its own kind of manifest it loads all objects with the prefix.
    const source = `FROM ${plainText(from + prefix)}`;
    const lines = [`COPY ${table}${list}`, source, 'IAM_ROLE DEFAULT', ...forms[format]];
    return [`${lines.join('\n')};`];
  },
};
