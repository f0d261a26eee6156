import {
  columnsFor,
  combinedSource,
  ConfigurationError,
  isSameList,
  listSink,
  listSource,
  streamSink,
  streamSource,
  type FileOptions,
  type Sink,
  type Source,
} from '../../index.js';
import type { CommandInput, ParsedOptions, Surroundings } from '../command.js';
import { databaseSink, databaseSource } from './database-ends.js';
import { pathOf, type NamedPlace } from './list-places.js';
import { checkRules } from '../options/option-rules.js';
import { formOptions, verifyOptions, type VerifyOption } from '../options/verify-options.js';
import { standard } from './stdio.js';
import { filesOfOutput, verdictOutput } from './verdict-output.js';
import { whereGiven } from '../job/omit-undefined.js';

/** Where the rows of `sluice verify` come from, and where they go. */
export interface ListEnds {
  readonly source: Source;
  readonly sink: Sink;
  /** What of their form decides the rows, to be compared when a run goes on. */
  readonly decides: Readonly<Record<string, string | boolean>>;
}

/** What of a command says where rows come from and go to. */
type EndsInput = Pick<CommandInput<VerifyOption>, 'options' | 'stdin' | 'stdout'>;

/** @throws ConfigurationError, InputError `input_unreadable` */
export async function findListEnds(
  inputs: readonly NamedPlace[],
  output: NamedPlace,
  input: EndsInput,
): Promise<ListEnds> {
  const { options } = input;
  const { database: to } = output;
  checkRules(options, verifyOptions, {
    'input is a database': inputs.some(({ database }) => database !== undefined),
    'output is a database': to !== undefined,
  });
  const sink = await findSinkOf(inputs, output, input);
  for (const file of filesOfOutput(inputs, output, options)) await refuseSameFile(inputs, file);
  const source = await findSource(inputs, output, input);
  const texts = [
    { name: 'input-format' } as const,
    ...formOptions,
    { name: 'output-format' } as const,
  ];
  const given = texts.flatMap(({ name }) => {
    const value = options.text(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    source,
    sink,
    decides: {
      header: !options.has('no-header'),
      ...Object.fromEntries(given),
    },
  };
}

async function findSinkOf(
  inputs: readonly NamedPlace[],
  output: NamedPlace,
  input: EndsInput,
): Promise<Sink> {
  const { options } = input;
  if (options.has('split-by')) return verdictOutput(inputs, output, options);
  return output.database ? databaseSink(output.database, options) : findOutput(output, input);
}

/** @param output where the rows go: some forms need all columns beforehand. @default anywhere */
export async function findSource(
  inputs: readonly NamedPlace[],
  output: NamedPlace | undefined,
  { options, stdin }: EndsInput,
): Promise<Source> {
  const [only] = inputs;
  if (!only) throw new ConfigurationError('name the input');
  if (only.database) return databaseSource(only.database, options);
  const form = fileOptions(options, output?.remote?.url ?? (output && pathOf(output)) ?? '');
  if (inputs.length === 1) return findOne(only, form, stdin);
  // Each file's own columns are in the common header, wherever in it they come first.
  const all = { ...form, columns: 'all' as const };
  return combinedSource(inputs.map((input) => findOne(input, all, stdin)));
}

function findOne(
  { path, remote }: NamedPlace,
  form: FileOptions,
  stdin: Surroundings['stdin'],
): Source {
  return path === standard
    ? streamSource('standard input', stdin, form)
    : listSource(remote?.url ?? path, form);
}

async function refuseSameFile(inputs: readonly NamedPlace[], output: NamedPlace): Promise<void> {
  const to = output.path;
  for (const input of inputs) {
    if (!(await isSamePlace(input, output))) continue;
    throw new ConfigurationError(
      inputs.length === 1
        ? `the output ${to} is the input: give the output another name with -o`
        : `the output ${to} is one of the inputs: give the output another name or another folder with -o`,
    );
  }
}

export async function isSamePlace(input: NamedPlace, output: NamedPlace): Promise<boolean> {
  const [from, to] = [input, output].map((place) => place.remote?.url ?? pathOf(place));
  if (from === undefined || to === undefined || [from, to].includes(standard)) return false;
  return isSameList(from, to);
}

/**
 * @param namedAs name whose ending tells the form. @default the place's own
 * @throws ConfigurationError
 */
export function findOutput(
  { path, remote }: NamedPlace,
  { options, stdout }: EndsInput,
  namedAs?: string,
): Sink {
  const { 'output-format': format, 'part-size': partBytes } = options.values(verifyOptions);
  const form = {
    ...whereGiven({ format, namedAs, partBytes }),
    neutralizeFormulas: options.has('neutralize-formulas'),
  };
  if (path !== standard) return listSink(remote?.url ?? path, form);
  if (form.partBytes === undefined) {
    return streamSink(stdout, { ...form, name: 'standard output', ends: false });
  }
  throw new ConfigurationError('parts go into a folder: name it with -o');
}

function fileOptions(options: ParsedOptions<VerifyOption>, outputPath: string): FileOptions {
  const { 'input-format': input, 'output-format': output } = options.values(verifyOptions);
  return {
    columns: columnsFor(outputPath, output),
    ...options.libraryValues(formOptions),
    ...whereGiven({ format: input }),
  };
}
