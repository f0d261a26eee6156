import { emailQualities } from '../../contract/index.js';
import {
  checkOutputPath,
  ConfigurationError,
  parseFileFormat,
  splitSink,
  verdicts,
  type KeepRule,
  type MaxUnknown,
  type Sink,
} from '../../index.js';
import { defineOptions, type CommandInput, type ParsedOptions, type NameOf } from '../command.js';
import { findOutput, isSamePlace, type SinkOption } from '../endpoints/list-ends.js';
import { besidePlace, placeOf, type NamedPlace } from '../endpoints/list-places.js';
import type { Said } from '../messages/run-lines.js';
import { amountOption } from './option-values.js';
import { standard } from '../endpoints/stdio.js';
import { filesOfOutput } from '../endpoints/verdict-output.js';
import { whereGiven } from '../job/omit-undefined.js';

export const keepOptions = defineOptions([
  {
    name: 'keep',
    value: '[<column>=]<verdicts>',
    isCommon: true,
    isRepeatable: true,
    help: 'Write only rows in which every verified column, or the one named, has one of these verdicts: valid, wrong, unknown, none; --rejects <path> takes the others.',
  },
  {
    name: 'keep-quality',
    value: '<list>',
    help: 'The same for email quality: good, bad, risky, unknown.',
  },
  {
    name: 'rejects',
    value: '<path>',
    help: 'File, or object in a bucket, for the rows that --keep and --keep-quality leave out.',
  },
  {
    name: 'max-unknown',
    value: '<percent>',
    help: 'If more than this share of the verdicts is unknown: write <output>.suspect instead, exit 8.',
  },
  {
    name: 'provenance',
    help: 'Add columns that say what was sent for each cell, and when, from where and in which batch its result came.',
  },
]);

type KeepOption =
  | NameOf<typeof keepOptions>
  | SinkOption
  | 'email'
  | 'part-size'
  | 'summary'
  | 'input-format';

/** How the column of a list of one address a line is named. */
const lineColumn = 'value';

function isTextFile(path: string): boolean {
  return /\.txt(?:\.gz)?$/i.test(path);
}

/**
 * Said before anything is sent: a TXT output has the verified column alone, so that results show in it only
 * where they decide which rows are written.
 */
export function hiddenResultsLine(
  from: readonly NamedPlace[],
  { path }: NamedPlace,
  options: ParsedOptions<KeepOption | 'phone'>,
): Said | undefined {
  const format = options.text('output-format');
  const isText = format === undefined ? isTextFile(path) : parseFileFormat(format) === 'txt';
  const decides = (['keep', 'keep-quality', 'split-by'] as const).some((name) => options.has(name));
  // A table under such a name stays one.
  const verified = [...options.texts('email'), ...options.texts('phone')];
  const mayBeTable =
    format === undefined &&
    from.every((input) => isTextFile(input.path)) &&
    verified.some((name) => name !== lineColumn);
  if (!isText || decides || mayBeTable) return undefined;
  return {
    event: 'hidden_results',
    fields: { output: path },
    line: `${path} will hold the addresses without their results: write a .csv to see them, or choose the rows with --keep valid`,
  };
}

/** Where rows go, once it is decided which. */
export interface KeptOutput {
  readonly sink: Sink;
  readonly maxUnknown?: MaxUnknown & { readonly suspect: Sink };
  /** Where a suspect output goes: a good one removes what an earlier run has left there. */
  readonly suspects: readonly NamedPlace[];
  /** What of it decides the output. */
  readonly decides: Readonly<Record<string, string>>;
}

/**
 * Sends the rows that are not to be kept elsewhere, and a suspect output beside its place.
 *
 * @throws ConfigurationError, OutputError
 */
export async function keepOutput(
  sink: Sink,
  { from, to }: { readonly from: readonly NamedPlace[]; readonly to: NamedPlace },
  input: CommandInput<KeepOption>,
): Promise<KeptOutput> {
  const { options } = input;
  const keep = keepRule(options);
  const given = options.text('rejects');
  const rejects = given === undefined ? undefined : placeOf(given, { ...input, env: {} });
  if (rejects) await checkRejects(rejects, keep, { from, to }, input);
  const split = (output: Sink, ending: string): Sink => {
    if (!keep) return output;
    const others = rejects && findOutput(besidePlace(rejects, ending), input, given);
    return splitSink({ output, keep, ...(others && { rejects: others }) });
  };
  const percent = amountOption(options, 'max-unknown');
  const besides = (['rejects', 'max-unknown'] as const).find((name) => options.has(name));
  if (besides !== undefined && options.has('part-size')) {
    throw new ConfigurationError(`--${besides} does not go with an output in parts (--part-size)`);
  }
  if (percent !== undefined) await checkSuspectPlace(to, sink);
  const suspects = [to, rejects].flatMap((place) =>
    place === undefined || percent === undefined ? [] : [besidePlace(place, '.suspect')],
  );
  return {
    suspects,
    sink: split(sink, ''),
    ...(percent !== undefined && {
      maxUnknown: {
        percent,
        suspect: split(findOutput(besidePlace(to, '.suspect'), input, to.path), '.suspect'),
      },
    }),
    decides: whereGiven({
      keep: options.has('keep') ? options.texts('keep').join(' ') : undefined,
      'keep-quality': options.text('keep-quality'),
      rejects: given,
    }),
  };
}

function keepRule(options: ParsedOptions<'keep' | 'keep-quality' | 'email'>): KeepRule | undefined {
  const given = options.texts('keep').map((text) => {
    const at = text.lastIndexOf('=');
    const words = readWords('keep', text.slice(at + 1), verdicts);
    return { column: at === -1 ? undefined : text.slice(0, at), words };
  });
  const ofAll = given.filter(({ column }) => column === undefined);
  if (ofAll.length > 1) {
    throw new ConfigurationError(
      '--keep takes one list for all columns, such as valid,unknown, and one for each <column>=',
    );
  }
  const columns = given.flatMap(({ column, words }) =>
    column === undefined ? [] : [[column, words] as const],
  );
  const ofQuality = options.text('keep-quality');
  const quality =
    ofQuality === undefined ? undefined : readWords('keep-quality', ofQuality, emailQualities);
  if (quality && options.texts('email').length === 0) {
    throw new ConfigurationError('--keep-quality is for emails: name their column with --email');
  }
  if (given.length === 0 && !quality) return undefined;
  return whereGiven({
    verdicts: ofAll[0]?.words,
    columns: columns.length === 0 ? undefined : Object.fromEntries(columns),
    quality,
  });
}

function readWords<Word extends string>(
  option: string,
  text: string,
  words: readonly Word[],
): readonly Word[] {
  return text.split(',').map((part) => {
    const word = words.find((known) => known === part.trim().toLowerCase());
    if (word !== undefined) return word;
    throw new ConfigurationError(
      `--${option} takes ${words.join(', ')}, separated by commas, not ${JSON.stringify(part)}`,
    );
  });
}

async function checkRejects(
  rejects: NamedPlace,
  keep: KeepRule | undefined,
  { from, to }: { readonly from: readonly NamedPlace[]; readonly to: NamedPlace },
  { options, cwd }: CommandInput<KeepOption>,
): Promise<void> {
  if (!keep) {
    throw new ConfigurationError(
      '--rejects is for the rows that --keep or --keep-quality leaves out: give one of them',
    );
  }
  const { path, database, remote } = rejects;
  if (path === standard || database || remote?.kind === 'web') {
    throw new ConfigurationError('--rejects takes the path of a file, or an s3:// address');
  }
  if (!remote) await checkOutputPath(path);
  const summary = options.text('summary');
  const others = [
    ...from.map((place) => ['input', place] as const),
    ...filesOfOutput(from, to, options).map((place) => ['output', place] as const),
    ...(summary === undefined ? [] : [['summary', placeOf(summary, { env: {}, cwd })] as const]),
  ];
  for (const [what, other] of others) {
    if (!(await isSamePlace(rejects, other))) continue;
    throw new ConfigurationError(`--rejects ${path} is the ${what}: give the rejects another name`);
  }
}

async function checkSuspectPlace({ database }: NamedPlace, sink: Sink): Promise<void> {
  if (!database && (await sink.mayBeginEarly?.()) === true) return;
  throw new ConfigurationError(
    '--max-unknown writes a suspect output beside its place, which only a file has: name one with -o',
  );
}
