import { stat } from 'node:fs/promises';
import {
  ConfigurationError,
  verdictFolder,
  verdicts,
  verdictSink,
  type Sink,
  type Verdict,
  isSluiceError,
  listSink,
  listSource,
  splitSink,
  type KeepRule,
  type MaxUnknown,
  streamSink,
} from '../../index.js';
import { fileFormats, parseFileFormat } from '../../lists/files/file-format.js';
import { checkOutputPath } from '../../lists/files/outputs/output-path.js';
import { isSameList } from '../../lists/location.js';
import { type ParsedOptions, type CommandInput, omitUndefined } from '../command.js';
import { keepOptions } from '../options/keep-options.js';
import { verifyOptions, type VerifyOption } from '../options/verify-options.js';
import {
  isDatabase,
  type Location,
  standard,
  besideLocation,
  locationOf,
  listAt,
} from './locations.js';
import { textEnding } from './proposed-names.js';
import { message, type Message } from '../messages/catalogue.js';

/** @param namedAs name whose ending decides the format. @default the place's own */
export function findOutput(
  location: Location,
  { options, stdout }: CommandInput<VerifyOption>,
  namedAs?: string,
): Sink {
  const { 'output-format': format, 'part-size': partBytes } = options.values(verifyOptions);
  const form = {
    ...omitUndefined({ format, namedAs, partBytes }),
    neutralizeFormulas: options.has('neutralize-formulas'),
  };
  if (location.path !== standard) return listSink(listAt(location), form);
  if (form.partBytes === undefined) {
    return streamSink(stdout, { ...form, name: 'standard output', ends: false });
  }
  throw new ConfigurationError('parts go into a folder: name it with -o', {
    option: 'sink',
    fault: 'missing',
  });
}

export async function isSamePlace(input: Location, output: Location): Promise<boolean> {
  if ([input, output].some((each) => isDatabase(each) || each.path === standard)) return false;
  return isSameList(listAt(input), listAt(output));
}

type SplitOption = 'split-by' | 'input-format' | 'output-format' | 'neutralize-formulas';

export function verdictOutput(
  inputs: readonly Location[],
  output: Location,
  options: ParsedOptions<SplitOption>,
): Sink {
  if (output.path === standard || isDatabase(output) || output.kind === 'web') {
    throw new ConfigurationError(
      '--split-by writes a file for each verdict into a folder: name the folder with -o',
      { option: 'sink', fault: 'missing' },
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
        : URL.canParse(input.url)
          ? new URL(input.url).pathname
          : '';
  const [, ending = ''] = /\.([a-z]+)(?:\.gz)?$/i.exec(path) ?? [];
  const format = ending.toLowerCase() === 'ndjson' ? 'jsonl' : ending.toLowerCase();
  return fileFormats.find((known) => known === format) ?? 'csv';
}

function asFolder(name: string): string {
  return name.endsWith('/') ? name : `${name}/`;
}

/** Rows of the existing output and its rejects: the last list had at least as many. `undefined` where unknown. */
export async function rowsOfOutput(
  sink: Sink,
  suspect: Sink | undefined,
  options: ParsedOptions<VerifyOption>,
): Promise<number | undefined> {
  const { 'output-format': format } = options.values(verifyOptions);
  // A refused night has read its list, too.
  const isRefused = suspect && (await writtenMs(suspect)) > (await writtenMs(sink));
  const last = isRefused === true ? suspect : sink;
  let sum: number | undefined;
  for (const { name } of last.outputs?.() ?? [last]) {
    if ((await stat(name).catch(() => undefined))?.isFile() !== true) continue;
    const rows = await countRows(name, {
      header: !options.has('no-header'),
      ...(format !== undefined && { format }),
    });
    if (rows !== undefined) sum = (sum ?? 0) + rows;
  }
  return sum;
}

async function writtenMs(sink: Sink): Promise<number> {
  const [first = sink] = sink.outputs?.() ?? [];
  return (await stat(first.name).catch(() => undefined))?.mtimeMs ?? 0;
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

const lineColumn = 'value';

/** Reported before anything is sent: of a TXT output, only which rows it has shows results. */
export function hiddenResults(
  from: readonly Location[],
  { path }: Location,
  options: ParsedOptions<VerifyOption>,
): readonly Message[] {
  const format = options.text('output-format');
  const isText = format === undefined ? textEnding.test(path) : parseFileFormat(format) === 'txt';
  const decides = Object.keys(options.decisions(verifyOptions, 'rows of the output')).length > 0;
  // An existing table of such a name is written all the same.
  const verified = verifiedNames(options);
  const mayBeTable =
    format === undefined &&
    from.every((input) => textEnding.test(input.path)) &&
    verified.some((name) => name !== lineColumn);
  if (!isText || decides || mayBeTable) return [];
  return [message('hidden_results', { output: path })];
}

function verifiedNames(options: ParsedOptions<VerifyOption>): readonly string[] {
  return [...options.texts('email'), ...options.texts('phone')];
}

interface KeptOutput {
  readonly sink: Sink;
  /** A good output removes the suspect one of an earlier run. */
  readonly maxUnknown?: MaxUnknown & { readonly suspect: Sink };
}

/** Routes rejected rows to their own output, and a suspect output beside its place. */
export async function keepOutput(
  sink: Sink,
  to: Location,
  input: CommandInput<VerifyOption>,
): Promise<KeptOutput> {
  const { options } = input;
  const keep = keepRule(options);
  const given = options.text('rejects');
  const rejects = given === undefined ? undefined : locationOf(given, { ...input, env: {} });
  if (rejects) await checkRejects(rejects);
  const unique = options.has('unique') ? (options.text('unique') ?? true) : undefined;
  const split = (output: Sink, ending: string): Sink => {
    if (!keep && unique === undefined) return output;
    const others = rejects && findOutput(besideLocation(rejects, ending), input, given);
    return splitSink({ output, keep, unique, ...(others && { rejects: others }) });
  };
  const { 'max-unknown': percent } = options.values(keepOptions);
  if (percent !== undefined) await checkSuspectPlace(to, sink);
  return {
    sink: {
      ...split(sink, ''),
      decides: {
        ...options.decisions(verifyOptions, 'output', 'rows of the output'),
        ...sink.decides,
      },
    },
    ...(percent !== undefined && {
      maxUnknown: {
        percent,
        suspect: split(findOutput(besideLocation(to, '.suspect'), input, to.path), '.suspect'),
      },
    }),
  };
}

function keepRule(options: ParsedOptions<VerifyOption>): KeepRule | undefined {
  const { keep = [], 'keep-quality': quality } = options.values(keepOptions);
  const ofAll = keep.filter(({ column }) => column === undefined);
  if (ofAll.length > 1) {
    throw new ConfigurationError(
      '--keep takes one list for all columns, such as valid,unknown, and one for each <column>=',
      { option: '--keep' },
    );
  }
  const columns = keep.flatMap(({ column, words }) =>
    column === undefined ? [] : [[column, words] as const],
  );
  if (keep.length === 0 && !quality) return undefined;
  return omitUndefined({
    verdicts: ofAll[0]?.words,
    columns: columns.length === 0 ? undefined : Object.fromEntries(columns),
    quality,
  });
}

/**
 * What `--keep` with a list for all columns leaves out, where there are several.
 *
 * @param columns the verified ones; with their empty cells, where these are counted. @default those of the options
 */
export function keepMessages(
  options: ParsedOptions<VerifyOption>,
  columns: readonly { readonly name: string; readonly empty?: number }[] = verifiedNames(
    options,
  ).map((name) => ({ name })),
): readonly Message[] {
  const { keep = [] } = options.values(keepOptions);
  const words = keep.find(({ column }) => column === undefined)?.words;
  const others = new Set(keep.map(({ column = '' }) => column.toLowerCase()));
  const judged = columns.filter(({ name }) => !others.has(name.toLowerCase()));
  const empty = judged.flatMap(({ name, empty: cells = 0 }) =>
    cells > 0 ? [{ column: name, cells }] : [],
  );
  const isCounted = columns.every((each) => each.empty !== undefined);
  if (!words || words.includes('none') || judged.length < 2) return [];
  if (isCounted && empty.length === 0) return [];
  const names = judged.map(({ name }) => name);
  return [message('keep_needs_all', { keep: words.join(','), columns: names, empty })];
}

async function checkRejects(rejects: Location): Promise<void> {
  const { path, kind } = rejects;
  if (path === standard || isDatabase(rejects) || kind === 'web') {
    throw new ConfigurationError('--rejects takes the path of a file, or an s3:// address', {
      option: '--rejects',
    });
  }
  if (kind === 'file') await checkOutputPath(path);
}

async function checkSuspectPlace(to: Location, sink: Sink): Promise<void> {
  if (!isDatabase(to) && (await sink.mayBeginEarly?.()) === true) return;
  throw new ConfigurationError(
    '--max-unknown writes a suspect output beside its place, which only a file has: name one with -o',
    { option: 'sink', fault: 'missing' },
  );
}
