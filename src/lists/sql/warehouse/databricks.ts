import { quoteName } from '../tables/table-plan.js';
import { secondDigits } from '../../rows/values/kinds.js';
import { escapedText, isBinaryText, isCells, lines, type LoadDialect } from './load-dialect.js';

/** Digits that a number has at most. */
const mostDigits = 38;

/** Names that a table has only where its columns are told by more than their names. */
const needsMapping = /[ ,;{}()\n\t=]/;

export const databricks: LoadDialect = {
  label: 'Databricks',
  isRun: false,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  nameParts: 3,
  quote: (name) => quoteName(name, '`'),
  ignoresCase: true,
  longestName: { most: 255, unit: 'characters' },
  text: 'STRING',
  typeOf(kind, format) {
    const isFine = secondDigits(kind) > 6;
    switch (kind.name) {
      case 'decimal': {
        const { precision = mostDigits, scale = 10 } = kind;
        return precision > mostDigits ? undefined : `DECIMAL(${precision}, ${scale})`;
      }
      case 'boolean':
        return 'BOOLEAN';
      case 'int8':
        return 'TINYINT';
      case 'int16':
      case 'uint8':
        return 'SMALLINT';
      case 'int32':
      case 'uint16':
        return 'INT';
      case 'int64':
      case 'uint32':
        return 'BIGINT';
      case 'uint64':
        return 'DECIMAL(20, 0)';
      case 'float32':
        return 'FLOAT';
      case 'float64':
        return 'DOUBLE';
      case 'date':
        return 'DATE';
      case 'timestamp':
        return isFine ? undefined : 'TIMESTAMP_NTZ';
      case 'timestamptz':
        return isFine ? undefined : 'TIMESTAMP';
      case 'json':
        return kind.nested === true ? undefined : 'VARIANT';
      case 'binary':
        return isBinaryText(kind, format) ? undefined : 'BINARY';
      case 'uuid':
        return format === 'parquet' ? 'BINARY' : 'STRING';
      // Times of day and durations are text.
      default:
        return undefined;
    }
  },
  places: {
    form: /^(?:(?:s3|gs|abfss|dbfs):\/\/?[^\s'"*?\\{}[\]]+|\/Volumes\/[^\s'"*?\\{}[\]]+)$/,
    example: 's3://bucket/verified/',
  },
  tableOptions: (columns) =>
    columns.some(({ name }) => needsMapping.test(name))
      ? " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
      : '',
  load({ table, columns, manifest, from, prefix, suffix }) {
    const { format, header, delimiter = ',', quote } = manifest;
    const isJson = (type: string): boolean => type === 'VARIANT';
    const cells = columns.map(({ quoted, type }) =>
      isJson(type) ? `parse_json(${quoted})` : quoted,
    );
    const schema = columns
      .map(({ quoted, type }) => `${quoted} ${isJson(type) ? 'STRING' : type}`)
      .join(', ');
    const forms = { csv: 'csv', tsv: 'csv', jsonl: 'json', parquet: 'parquet' };
    const options = [
      escapedText(`${from}${prefix}*${suffix}`),
      `format => '${forms[format]}'`,
      ...(isCells(format)
        ? [
            `header => '${String(header)}'`,
            `sep => ${escapedText(delimiter)}`,
            `quote => ${escapedText(quote ?? '')}`,
            `escape => ${escapedText(quote ?? '')}`,
            "multiLine => 'true'",
            "nullValue => ''",
          ]
        : []),
      ...(format === 'parquet' ? [] : ["mode => 'FAILFAST'"]),
      `schema => ${escapedText(schema)}`,
    ];
    return [
      [
        `INSERT INTO ${table} (${columns.map(({ quoted }) => quoted).join(', ')})`,
        `SELECT ${cells.join(', ')}`,
        `FROM read_files(\n${lines(options)}\n);`,
      ].join('\n'),
    ];
  },
};
