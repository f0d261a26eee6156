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
  listSource,
} from '../../index.js';
import { type ParsedOptions, omitUndefined } from '../command.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
import { pathOf, type NamedPlace, placeOf } from './list-places.js';
import { standard } from './paths.js';

type SplitOption = 'split-by' | 'input-format' | 'output-format' | 'neutralize-formulas';

/**
 * A folder with a file for each verdict, which `--split-by verdict` asks for.
 *
 * @throws ConfigurationError
 */
export async function verdictOutput(
  inputs: readonly NamedPlace[],
  output: NamedPlace,
  options: ParsedOptions<SplitOption>,
): Promise<Sink> {
  const { path, database, remote } = output;
  if (path === standard || database || remote?.kind === 'web') {
    throw new ConfigurationError(
      '--split-by writes a file for each verdict into a folder: name the folder with -o',
    );
  }
  const neutralizeFormulas = options.has('neutralize-formulas');
  const ending = endingOf(inputs, options);
  if (!remote) return verdictFolder(path, { ending, neutralizeFormulas });
  const { s3Sink } = await import('../../lists/remote/s3/index.js');
  const folder = folderUrl(remote.url);
  const sinkOf = (verdict: Verdict): Sink =>
    s3Sink(`${folder}${verdict}.${ending}`, { neutralizeFormulas });
  return verdictSink(folder, {
    valid: sinkOf('valid'),
    wrong: sinkOf('wrong'),
    unknown: sinkOf('unknown'),
    none: sinkOf('none'),
  });
}

/** Where rows go: the output itself, or the files in its folder. */
export function filesOfOutput(
  inputs: readonly NamedPlace[],
  output: NamedPlace,
  options: ParsedOptions<SplitOption>,
): readonly NamedPlace[] {
  if (!options.has('split-by')) return [output];
  const ending = endingOf(inputs, options);
  const { path, remote } = output;
  return verdicts.map((verdict) => {
    const name = `${verdict}.${ending}`;
    return {
      path: `${path}${path.endsWith('/') ? '' : '/'}${name}`,
      database: undefined,
      ...omitUndefined({
        remote: remote && { ...remote, url: `${folderUrl(remote.url)}${name}` },
      }),
    };
  });
}

/** The format that is asked for, else that of the first input. */
function endingOf(
  [input]: readonly NamedPlace[],
  options: ParsedOptions<'input-format' | 'output-format'>,
): string {
  const given = options.text('output-format') ?? options.text('input-format');
  if (given !== undefined) return parseFileFormat(given);
  const path = input?.remote
    ? new URL(input.remote.url).pathname
    : ((input && pathOf(input)) ?? '');
  const [, ending = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(path) ?? [];
  const format = ending.toLowerCase() === 'ndjson' ? 'jsonl' : ending.toLowerCase();
  return fileFormats.find((known) => known === format) ?? 'csv';
}

function folderUrl(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

/**
 * How many rows the output has that is there, with the rejects beside it: what the list had at least.
 *
 * @returns `undefined` where there is none that is a file, or none that can be read
 */
export async function rowsOfOutput(
  from: readonly NamedPlace[],
  to: NamedPlace,
  options: ParsedOptions<VerifyOption>,
): Promise<number | undefined> {
  const { rejects, 'output-format': format } = options.values(verifyOptions);
  const places = [
    ...filesOfOutput(from, to, options),
    ...(rejects === undefined ? [] : [placeOf(rejects, { env: {}, cwd: '.' })]),
  ];
  let sum: number | undefined;
  for (const place of places) {
    const path = pathOf(place);
    const isFile = path !== undefined && (await stat(path).catch(() => undefined))?.isFile();
    if (!isFile) continue;
    const rows = await countRows(path, {
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
