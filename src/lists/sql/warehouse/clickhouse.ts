import { secondDigits } from '../../rows/values/kinds.js';
import {
  escapedText,
  insertInto,
  isCells,
  lines,
  namesOf,
  type Load,
  type LoadDialect,
  typesByKind,
  unlessNested,
} from './load-dialect.js';

const mostDigits = 76;

export const clickhouse: LoadDialect = {
  label: 'ClickHouse',
  isRun: true,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  nameParts: 2,
  quote: (name) => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``,
  insteadOfMerge: 'load into a ReplacingMergeTree, and read it with FINAL',
  ignoresCase: false,
  longestName: { most: 10_000, unit: 'bytes' },
  text: 'Nullable(String)',
  typeOf(kind, format) {
    const type = bareType(kind, format);
    return type === undefined ? undefined : `Nullable(${type})`;
  },
  places: {
    form: /^(?:s3|gs|https?):\/\/[^\s'"*?\\{}[\]]+$/,
    example: 's3://bucket/verified/',
    isLocal: true,
  },
  tableOptions: () => ' ENGINE = MergeTree ORDER BY tuple()',
  load(load) {
    const { columns, manifest } = load;
    const { format, delimiter = ',', quote } = manifest;
    const settings = [
      ...(isCells(format)
        ? [...delimiterSettings(delimiter), "format_csv_null_representation = ''"]
        : []),
      ...(quote === null ? ['format_csv_allow_double_quotes = 0'] : []),
      "date_time_input_format = 'best_effort'",
    ];
    const from = `${tableFunction(load)}\nSETTINGS ${settings.join(', ')}`;
    return [insertInto(load, [namesOf(columns)], from)];
  },
};

/** Its CSV accepts no tab as delimiter, although tab-separated cells may be quoted like CSV. */
function isCustom(delimiter: string): boolean {
  return delimiter === '\t' || delimiter === ' ';
}

function delimiterSettings(delimiter: string): readonly string[] {
  const text = escapedText(delimiter);
  if (!isCustom(delimiter)) return [`format_csv_delimiter = ${text}`];
  return [`format_custom_field_delimiter = ${text}`, "format_custom_escaping_rule = 'CSV'"];
}

const bareType = typesByKind({
  int8: 'Int8',
  int16: 'Int16',
  int32: 'Int32',
  int64: 'Int64',
  uint8: 'UInt8',
  uint16: 'UInt16',
  uint32: 'UInt32',
  uint64: 'UInt64',
  decimal: ({ precision = 38, scale = 10 }) =>
    precision > mostDigits ? undefined : `Decimal(${precision}, ${scale})`,
  boolean: 'Bool',
  float32: 'Float32',
  float64: 'Float64',
  date: 'Date32',
  time: (kind) => `Time64(${secondDigits(kind)})`,
  timestamp: (kind) => `DateTime64(${secondDigits(kind)}, 'UTC')`,
  timestamptz: (kind) => `DateTime64(${secondDigits(kind)}, 'UTC')`,
  uuid: 'UUID',
  // Its JSON type reorders members and drops repeated ones.
  json: unlessNested('String'),
  binary: 'String',
});

function tableFunction({ columns, manifest, from, prefix, suffix }: Load): string {
  const { format, parts } = manifest;
  const structure = columns.map(({ quoted, type }) => `${quoted} ${type}`).join(', ');
  const numbers = parts.map(({ name }) => name.slice(prefix.length, name.length - suffix.length));
  const range = numbers.length === 1 ? numbers[0] : `{${numbers[0]}..${numbers.at(-1)}}`;
  const path = `${from}${prefix}${range}${suffix}`;
  const common = [escapedText(formatName(manifest)), escapedText(structure)];
  const compression = escapedText(format === 'parquet' ? 'none' : 'gzip');
  const [, bucket, key] = /^gs:\/\/([^/]+)\/(.*)$/s.exec(path) ?? [];
  if (bucket !== undefined && key !== undefined) {
    const url = `https://storage.googleapis.com/${bucket}/${key}`;
    return `gcs(\n${lines([escapedText(url), ...common, compression])}\n)`;
  }
  const isRemote = /^(?:s3|https?):/.test(path);
  return `${isRemote ? 's3' : 'file'}(\n${lines([escapedText(path), ...common, compression])}\n)`;
}

function formatName({ format, header, delimiter = ',' }: Load['manifest']): string {
  if (format === 'parquet') return 'Parquet';
  if (format === 'jsonl') return 'JSONEachRow';
  return `${isCustom(delimiter) ? 'CustomSeparated' : 'CSV'}${header ? 'WithNames' : ''}`;
}
