import {
  checkOutputPath,
  ConfigurationError,
  parseFileFormat,
  splitSink,
  type KeepRule,
  type MaxUnknown,
  type Sink,
} from '../../index.js';
import { type CommandInput, type ParsedOptions, omitUndefined } from '../command.js';
import { findOutput, isSamePlace } from './list-ends.js';
import { besideLocation, isDatabase, type Location, locationOf, standard } from './locations.js';
import { message, type Message } from '../messages/message.js';
import { keepOptions, type VerifyOption, verifyOptions } from '../options/verify-options.js';
import { filesOfOutput } from './output-files.js';

const lineColumn = 'value';

function isTextFile(path: string): boolean {
  return /\.txt(?:\.gz)?$/i.test(path);
}

/**
 * Said before anything is sent: a TXT output has the verified column alone, so that results show in it only
 * where they decide which rows are written.
 */
export function hiddenResults(
  from: readonly Location[],
  { path }: Location,
  options: ParsedOptions<VerifyOption>,
): Message | undefined {
  const format = options.text('output-format');
  const isText = format === undefined ? isTextFile(path) : parseFileFormat(format) === 'txt';
  const decides = Object.keys(options.decisions(verifyOptions, 'rows of the output')).length > 0;
  // A table under such a name stays one.
  const verified = [...options.texts('email'), ...options.texts('phone')];
  const mayBeTable =
    format === undefined &&
    from.every((input) => isTextFile(input.path)) &&
    verified.some((name) => name !== lineColumn);
  if (!isText || decides || mayBeTable) return undefined;
  return message('hidden_results', { output: path });
}

interface KeptOutput {
  readonly sink: Sink;
  /** A good output removes what an earlier run has left in the place of a suspect one. */
  readonly maxUnknown?: MaxUnknown & { readonly suspect: Sink };
}

/** Sends the rows that are not to be kept elsewhere, and a suspect output beside its place. */
export async function keepOutput(
  sink: Sink,
  { from, to }: { readonly from: readonly Location[]; readonly to: Location },
  input: CommandInput<VerifyOption>,
): Promise<KeptOutput> {
  const { options } = input;
  const keep = keepRule(options);
  const given = options.text('rejects');
  const rejects = given === undefined ? undefined : locationOf(given, { ...input, env: {} });
  if (rejects) await checkRejects(rejects, { from, to }, input);
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

async function checkRejects(
  rejects: Location,
  { from, to }: { readonly from: readonly Location[]; readonly to: Location },
  { options, cwd }: CommandInput<VerifyOption>,
): Promise<void> {
  const { path, kind } = rejects;
  if (path === standard || isDatabase(rejects) || kind === 'web') {
    throw new ConfigurationError('--rejects takes the path of a file, or an s3:// address');
  }
  if (kind === 'file') await checkOutputPath(path);
  const summary = options.text('summary');
  const others = [
    ...from.map((place) => ['input', place] as const),
    ...filesOfOutput(from, to, options).map((place) => ['output', place] as const),
    ...(summary === undefined ? [] : [['summary', locationOf(summary, { env: {}, cwd })] as const]),
  ];
  for (const [what, other] of others) {
    if (!(await isSamePlace(rejects, other))) continue;
    throw new ConfigurationError(`--rejects ${path} is the ${what}: give the rejects another name`);
  }
}

async function checkSuspectPlace(to: Location, sink: Sink): Promise<void> {
  if (!isDatabase(to) && (await sink.mayBeginEarly?.()) === true) return;
  throw new ConfigurationError(
    '--max-unknown writes a suspect output beside its place, which only a file has: name one with -o',
  );
}
