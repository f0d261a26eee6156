import { quoteName } from '../tables/table-plan.js';
import { secondDigits } from '../../rows/values/kinds.js';
import { isBinaryText, plainText, type LoadDialect } from './load-dialect.js';

const text = 'VARCHAR(65535)';
/** Digits that a number has at most. */
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
  typeOf(kind, format) {
    const isParquet = format === 'parquet';
    const isFine = secondDigits(kind) > 6;
    switch (kind.name) {
      case 'decimal': {
        const { precision = mostDigits, scale = 10 } = kind;
        return precision > mostDigits || scale >= mostDigits
          ? undefined
          : `DECIMAL(${precision}, ${scale})`;
      }
      case 'boolean':
        return 'BOOLEAN';
      // All are stored in 32 bits there.
      case 'int8':
      case 'int16':
      case 'uint8':
        return isParquet ? 'INTEGER' : 'SMALLINT';
      case 'int32':
      case 'uint16':
        return 'INTEGER';
      case 'int64':
        return 'BIGINT';
      // Read as the signed ones: large values would be negative.
      case 'uint32':
        return isParquet ? undefined : 'BIGINT';
      case 'uint64':
        return isParquet ? undefined : 'DECIMAL(20, 0)';
      case 'float32':
        return 'REAL';
      case 'float64':
        return 'DOUBLE PRECISION';
      case 'date':
        return 'DATE';
      case 'time':
        return isParquet || isFine ? undefined : 'TIME';
      case 'timestamp':
        return isFine ? undefined : 'TIMESTAMP';
      // Moments of Parquet are timestamps in UTC.
      case 'timestamptz':
        return isFine ? undefined : `TIMESTAMP${isParquet ? '' : 'TZ'}`;
      // JSON in Parquet is a text.
      case 'json':
        if (kind.nested === true) return undefined;
        return isParquet ? text : 'SUPER';
      case 'binary':
        return isBinaryText(kind, format) ? undefined : 'VARBYTE(1024000)';
      case 'uuid':
        return isParquet ? undefined : 'VARCHAR(36)';
      default:
        return undefined;
    }
  },
  places: { form: /^s3:\/\/[^\s'"*?\\]+$/, example: 's3://bucket/verified/' },
  load({ table, columns, manifest, from, prefix }) {
    const { format, header, delimiter = ',' } = manifest;
    const list = format === 'parquet' ? '' : ` (${columns.map(({ quoted }) => quoted).join(', ')})`;
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
      // Names fold to small letters there, those of JSON do not.
      jsonl: [
        "FORMAT AS JSON 'auto ignorecase'",
        'GZIP',
        "DATEFORMAT AS 'auto'",
        "TIMEFORMAT AS 'auto'",
      ],
      parquet: ['FORMAT AS PARQUET'],
    };
    // Without a manifest of its own form it loads all objects whose names begin so.
    return [
      [`COPY ${table}${list}`, `FROM ${plainText(from + prefix)}`, 'IAM_ROLE DEFAULT']
        .concat(forms[format])
        .join('\n')
        .concat(';'),
    ];
  },
};
