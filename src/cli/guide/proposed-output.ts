import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandInput } from '../command.js';
import { pathOf, locationOf } from '../endpoints/locations.js';
import { standard } from '../endpoints/paths.js';

const endings = /\.(?:csv|tsv|jsonl|ndjson|xlsx|parquet)(?:\.gz)?$/i;
/** A list of addresses alone has no room for results. */
const textEnding = /\.txt(?:\.gz)?$/i;

/**
 * The file that a list's rows would go to: beside the list, under its name and its sheet's, else in the current folder.
 */
export async function proposedOutput(
  input: CommandInput<'output-format' | 'part-size' | 'split-by' | 'sheet'>,
): Promise<string> {
  const { positionals, options } = input;
  const [only, ...more] = positionals.map((path) => locationOf(path, input));
  const path = only && more.length === 0 ? pathOf(only) : undefined;
  const format = options.text('output-format');
  const isFolder = options.has('part-size') || options.has('split-by');
  const wanted = isFolder ? '' : format === undefined ? undefined : `.${format}`;
  const isFile =
    path !== undefined && path !== standard && (await stat(path).catch(() => undefined))?.isFile();
  if (!isFile) return `verified${wanted ?? '.csv'}`;
  const ending = endings.exec(path)?.[0];
  const name = basename(path).replace(ending === undefined ? textEnding : endings, '');
  // Of a list that was verified before, `list.verified.csv`, the next is `list.verified2.csv`.
  const [, stem = name, number = '1'] = /^(.*)\.verified(\d{0,3})$/s.exec(name) ?? [];
  const next = stem === name ? '' : String(Number(number || '1') + 1);
  const sheet = options.text('sheet');
  const output = `${stem}${sheet === undefined ? '' : `.${inFileName(sheet)}`}.verified${next}${wanted ?? ending ?? '.csv'}`;
  const folder = dirname(path);
  return (await isWritable(folder)) ? join(folder, output) : output;
}

/** A sheet's name in letters that every file system takes. */
function inFileName(sheet: string): string {
  return sheet.match(/[\p{L}\p{N}_]+/gu)?.join('-') ?? 'sheet';
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}
