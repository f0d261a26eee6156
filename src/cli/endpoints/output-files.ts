import { stat } from 'node:fs/promises';
import {
  ConfigurationError,
  fileFormats,
  parseFileFormat,
  verdictFolder,
  verdicts,
  verdictSink,
  type Sink,
  type Verdict,
  isSluiceError,
  listSink,
  listSource,
} from '../../index.js';
import type { ParsedOptions } from '../command.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
import { isDatabase, type Location, standard } from './locations.js';

type SplitOption = 'split-by' | 'input-format' | 'output-format' | 'neutralize-formulas';

export function verdictOutput(
  inputs: readonly Location[],
  output: Location,
  options: ParsedOptions<SplitOption>,
): Sink {
  if (output.path === standard || isDatabase(output) || output.kind === 'web') {
    throw new ConfigurationError(
      '--split-by writes a file for each verdict into a folder: name the folder with -o',
    );
  }
  const neutralizeFormulas = options.has('neutralize-formulas');
  const ending = endingOf(inputs, options);
  if (output.kind === 'file') {
    return verdictFolder(output.path, { ending, neutralizeFormulas });
  }
  const folder = asFolder(output.url);
  const sinkOf = (verdict: Verdict): Sink =>
    listSink(`${folder}${verdict}.${ending}`, { neutralizeFormulas });
  return verdictSink(folder, {
    valid: sinkOf('valid'),
    wrong: sinkOf('wrong'),
    unknown: sinkOf('unknown'),
    none: sinkOf('none'),
  });
}

export function filesOfOutput(
  inputs: readonly Location[],
  output: Location,
  options: ParsedOptions<SplitOption>,
): readonly Location[] {
  if (!options.has('split-by')) return [output];
  const ending = endingOf(inputs, options);
  return verdicts.map((verdict) => {
    const name = `${verdict}.${ending}`;
    const path = `${asFolder(output.path)}${name}`;
    return output.kind === 'file'
      ? { kind: 'file', path }
      : { ...output, path, url: `${asFolder(output.url)}${name}` };
  });
}

function endingOf(
  [input]: readonly Location[],
  options: ParsedOptions<'input-format' | 'output-format'>,
): string {
  const given = options.text('output-format') ?? options.text('input-format');
  if (given !== undefined) return parseFileFormat(given);
  const path =
    input === undefined || isDatabase(input)
      ? ''
      : input.kind === 'file'
        ? input.path
        : new URL(input.url).pathname;
  const [, ending = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(path) ?? [];
  const format = ending.toLowerCase() === 'ndjson' ? 'jsonl' : ending.toLowerCase();
  return fileFormats.find((known) => known === format) ?? 'csv';
}

function asFolder(name: string): string {
  return name.endsWith('/') ? name : `${name}/`;
}

/**
 * The rows of the output that is there, with the rejects beside it: what the list had at least. `undefined`
 * where there is none that is a file, or none that can be read.
 */
export async function rowsOfOutput(
  sink: Sink,
  options: ParsedOptions<VerifyOption>,
): Promise<number | undefined> {
  const { 'output-format': format } = options.values(verifyOptions);
  let sum: number | undefined;
  for (const { name } of sink.outputs?.() ?? [sink]) {
    if ((await stat(name).catch(() => undefined))?.isFile() !== true) continue;
    const rows = await countRows(name, {
      header: !options.has('no-header'),
      ...(format !== undefined && { format }),
    });
    if (rows !== undefined) sum = (sum ?? 0) + rows;
  }
  return sum;
}

async function countRows(
  path: string,
  form: NonNullable<Parameters<typeof listSource>[1]>,
): Promise<number | undefined> {
  try {
    const reading = await listSource(path, form).open({ wanted: () => [] });
    let rows = 0;
    for await (const chunk of reading.chunks) rows += chunk.length;
    return rows;
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}
