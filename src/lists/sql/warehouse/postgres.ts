import { quoteName } from '../tables/table-plan.js';
import { typeOf } from '../postgres/statements.js';
import { factsOfKind } from '../../rows/values/kind-tally.js';
import {
  insertInto,
  isBinaryText,
  plainText,
  type Load,
  type LoadDialect,
} from './load-dialect.js';

/** For psql, which decompresses the parts itself: the server need not see them. */
export const postgres: LoadDialect = {
  label: 'PostgreSQL (psql)',
  isRun: true,
  formats: ['csv', 'tsv', 'jsonl'],
  nameParts: 2,
  quote: quoteName,
  ignoresCase: false,
  longestName: { most: 63, unit: 'bytes' },
  text: 'text',
  typeOf: (kind, format) => (isBinaryText(kind, format) ? undefined : typeOf(factsOfKind(kind))),
  places: { form: /^$/, example: 'verified/', isLocal: true },
  load(load) {
    return load.manifest.format === 'jsonl' ? loadLines(load) : loadCells(load);
  },
  begin: [String.raw`\set ON_ERROR_STOP on`, 'BEGIN;'],
  end: ['COMMIT;'],
};

function loadCells(load: Load): readonly string[] {
  const { header, delimiter = ',', quote } = load.manifest;
  const options = [
    'FORMAT csv',
    `HEADER ${String(header)}`,
    `DELIMITER ${character(delimiter)}`,
    // A character that no text contains, for cells without quotes.
    ...(quote === null ? [`QUOTE ${character('\u0002')}`] : []),
  ];
  return copies(load.table, load, options);
}

/** Each line is read as one cell: delimiter and quote are characters that JSON does not contain. */
function loadLines(load: Load): readonly string[] {
  const options = [
    'FORMAT csv',
    `DELIMITER ${character('\u0001')}`,
    `QUOTE ${character('\u0002')}`,
  ];
  const cells = load.columns.map(({ name, type }) =>
    type === 'json'
      ? `NULLIF((line -> ${plainText(name)})::text, 'null')::json`
      : `(line ->> ${plainText(name)})${type === 'text' ? '' : `::${type}`}`,
  );
  return [
    'CREATE TEMPORARY TABLE sluice_lines (line json) ON COMMIT DROP;',
    ...copies('sluice_lines', load, options),
    insertInto(load, cells, 'sluice_lines'),
  ];
}

function copies(
  table: string,
  { from, manifest }: Load,
  options: readonly string[],
): readonly string[] {
  return manifest.parts.map(({ name }) => {
    const program = `gzip -dc -- '${(from + name).replaceAll("'", String.raw`'\''`)}'`;
    return String.raw`\copy ${table} FROM PROGRAM ${plainText(program)} WITH (${options.join(', ')})`;
  });
}

function character(text: string): string {
  const code = text.charCodeAt(0);
  return code < 0x20 ? String.raw`E'\x${code.toString(16).padStart(2, '0')}'` : plainText(text);
}
