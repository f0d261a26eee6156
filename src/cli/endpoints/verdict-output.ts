import {
  ConfigurationError,
  fileFormats,
  parseFileFormat,
  verdictFolder,
  verdicts,
  verdictSink,
  type Sink,
  type Verdict,
} from '../../index.js';
import type { ParsedOptions } from '../command.js';
import { pathOf, type NamedPlace } from './list-places.js';
import { standard } from './resolve-path.js';
import { omitUndefined } from '../job/omit-undefined.js';

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
