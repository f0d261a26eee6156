import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inFileName } from '../../platform/text/printable.js';
import type { CommandInput } from '../command.js';
import { type Database, tablesOf } from './database-tables.js';
import { listEnding, type Location, locationOf, pathOf, standard } from './locations.js';

export const listEndings = /\.(?:csv|tsv|jsonl|ndjson|xlsx|parquet)(?:\.gz)?$/i;
/** A TXT output has no room for results. */
export const textEnding = /\.txt(?:\.gz)?$/i;

interface ListNames {
  readonly folder: string;
  /** Of the list before it was verified, without its ending. */
  readonly stem: string;
  /** After `list.verified.csv` comes `list.verified2.csv`. */
  readonly next: string;
  readonly ending: string | undefined;
}

/** @returns `undefined` for what is not one file */
async function namesOfList(input: CommandInput<never>): Promise<ListNames | undefined> {
  const [only, ...more] = input.positionals.map((path) => locationOf(path, input));
  const path = only && more.length === 0 ? pathOf(only) : undefined;
  if (path === undefined || path === standard) return undefined;
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const ending = listEndings.exec(path)?.[0];
  const name = basename(path).replace(ending === undefined ? textEnding : listEndings, '');
  const [, stem = name, number = '1'] = /^(.*)\.verified(\d{0,3})$/s.exec(name) ?? [];
  const next = stem === name ? '' : String(Number(number || '1') + 1);
  return { folder: dirname(path), stem, next, ending };
}

/** The proposed output: beside the list, under its name and its sheet's, else in the current folder. */
export async function proposedOutput(
  input: CommandInput<'output-format' | 'part-size' | 'split-by' | 'sheet'>,
): Promise<string> {
  const { options } = input;
  const format = options.text('output-format');
  const isFolder = options.has('part-size') || options.has('split-by');
  const wanted = isFolder ? '' : format === undefined ? undefined : `.${format}`;
  const names = await namesOfList(input);
  if (!names) return `verified${wanted ?? '.csv'}`;
  const { folder, stem, next, ending } = names;
  const sheet = options.text('sheet');
  const output = `${stem}${sheet === undefined ? '' : `.${inFileName(sheet)}`}.verified${next}${wanted ?? ending ?? '.csv'}`;
  return (await isWritable(folder)) ? join(folder, output) : output;
}

/**
 * Where the history is that the guide proposes: beside the output, and named for the list, as in the examples; its
 * name alone beside an output that is no file.
 */
export async function historyBeside(
  { kind, path }: Location,
  input: CommandInput<never>,
): Promise<string> {
  const stem = (await namesOfList(input))?.stem ?? basename(path.replace(listEnding, ''));
  return `${kind === 'file' ? join(dirname(path), stem) : stem}.history`;
}

/**
 * A new table for the results of a list, named for it.
 *
 * @param from the table that the rows come from
 * @param output the database of the new one
 */
export async function proposedTable(
  input: CommandInput<never>,
  output: Database,
  from?: string,
): Promise<string> {
  const stem = from ?? (await namesOfList(input))?.stem ?? '';
  const name = `${stem.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_') || 'contacts'}_verified`;
  // One that cannot be read is told of by the run.
  const tables = await tablesOf(output).catch(() => []);
  const taken = new Set(tables.map((table) => table.name.toLowerCase()));
  let number = 1;
  const numbered = (): string => (number === 1 ? name : `${name}${number}`);
  while (taken.has(numbered())) number += 1;
  return numbered();
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}
