import { quoteName } from '../tables/table-plan.js';
import {
  byFormat,
  escapedText,
  insertInto,
  isCells,
  lines,
  type LoadDialect,
  typesByKind,
  unlessNested,
  untilMicros,
} from './load-dialect.js';

const mostDigits = 38;

/** Names that require column mapping. */
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
  // Times of day and durations are text.
  typeOf: typesByKind({
    decimal: ({ precision = mostDigits, scale = 10 }) =>
      precision > mostDigits ? undefined : `DECIMAL(${precision}, ${scale})`,
    boolean: 'BOOLEAN',
    int8: 'TINYINT',
    int16: 'SMALLINT',
    uint8: 'SMALLINT',
    int32: 'INT',
    uint16: 'INT',
    int64: 'BIGINT',
    uint32: 'BIGINT',
    uint64: 'DECIMAL(20, 0)',
    float32: 'FLOAT',
    float64: 'DOUBLE',
    date: 'DATE',
    timestamp: untilMicros('TIMESTAMP_NTZ'),
    timestamptz: untilMicros('TIMESTAMP'),
    json: unlessNested('VARIANT'),
    binary: 'BINARY',
    uuid: byFormat('BINARY', 'STRING'),
  }),
  places: {
    form: /^(?:(?:s3|gs|abfss|dbfs):\/\/?[^\s'"*?\\{}[\]]+|\/Volumes\/[^\s'"*?\\{}[\]]+)$/,
    example: 's3://bucket/verified/',
  },
  tableOptions: (columns) =>
    columns.some(({ name }) => needsMapping.test(name))
      ? " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
      : '',
  load(load) {
    const { columns, manifest, from, prefix, suffix } = load;
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
    return [insertInto(load, cells, `read_files(\n${lines(options)}\n)`)];
  },
};
