import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError, findColumns, type SampledList, type Source } from '../../index.js';
import { showLocation } from '../../lists/location.js';
import { inFileName } from '../../platform/text/printable.js';
import { isInteractive, type Person } from '../terminal/ask-person.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { findSource } from '../endpoints/list-ends.js';
import {
  findInputs,
  isDatabase,
  isTaken,
  locationOf,
  pathOf,
  resolvePath,
  standard,
} from '../endpoints/locations.js';
import type { Reporter } from '../terminal/reporter.js';
import { message, type Message } from '../messages/message.js';
import type { VerifyOption } from '../options/verify-options.js';
import {
  askCountry,
  askToStart,
  countryToFillIn,
  type GuideContext,
  showCommand,
  withAdded,
} from './ask-to-start.js';
import { type AddedOption, chooseCountry, countryOptions } from './choose-country.js';
import { offerToResume } from './offer-to-resume.js';
import { columnMessages, findInSheets, foundMessages, severalMessages } from './find-sheet.js';

/** What programs on Windows write where it is not UTF-8. */
const windowsEncoding = 'windows-1252';

const noHeaderOption = ['no-header', true] as const;
const splitOption = ['split-cells', true] as const;

/** A pipe may be slow to give more. */
const rowsOfPipe = 100;

export function namesNoColumn({ options }: CommandInput<VerifyOption>): boolean {
  return !options.has('email') && !options.has('phone');
}

/** Whether a command for a person names no country: the list may show one. */
export function lacksCountry(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
): boolean {
  const answering = [...countryOptions, 'email-country', 'json-log', 'store'] as const;
  return (
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !answering.some((name) => options.has(name))
  );
}

/**
 * Whether rows would appear on a person's terminal without being asked for: then a file is proposed. Pipes
 * stream.
 */
export function isToTerminal(
  { options, positionals }: CommandInput<VerifyOption>,
  person: Person,
  isOutputTerminal: boolean,
): boolean {
  const others = ['output', 'dry-run', 'json-log', 'store'] as const;
  return (
    isOutputTerminal &&
    isInteractive(person) &&
    !positionals.includes(standard) &&
    !others.some((name) => options.has(name))
  );
}

export async function proposeFile(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<number> {
  const { positionals, options } = input;
  const source = await findSource(await findInputs(positionals, input), undefined, input);
  // What is read once cannot be counted first.
  if (source.keep && !options.has('query')) {
    return context.verify([]);
  }
  const proposed = await propose(input, context.reporter);
  return askToStart(input, context, { added: [['output', proposed]], proposed });
}

async function propose(input: CommandInput<VerifyOption>, reporter: Reporter): Promise<string> {
  const output = await proposedOutput(input);
  const exists = await isTaken(resolvePath(input.cwd, output));
  reporter.report([message('proposed_output', { output, exists })]);
  return output;
}

/**
 * Samples a list, proposes columns, country and output, estimates the cost, and asks. The printed command is
 * what runs.
 */
export async function showGuide(
  input: CommandInput<VerifyOption>,
  context: GuideContext,
): Promise<number> {
  const { reporter, person } = context;
  const { env, signal } = input;
  const isLog = input.options.has('json-log');
  // Cells are shown to the person at the terminal, never in a log.
  const withCells = person.output.isTTY && !isLog;
  const inputs = await findInputs(input.positionals, input);
  if (inputs.some(({ path }) => path === standard) && person.input.isTTY) throw nameThem('');
  const sourceWith = async (...form: readonly AddedOption[]): Promise<Source> =>
    findSource(inputs, undefined, { ...input, options: withAdded(input.options, form, input.cwd) });
  const source = await sourceWith();
  const isReadOnce = source.keep !== undefined && !inputs.some(isDatabase);
  const isNamed = !namesNoColumn(input);
  const { seen, form, messages } = await findForm(source, {
    sourceWith,
    input,
    isNamed,
    isSingle: inputs.length === 1 && !isReadOnce,
    isReadOnce,
  });
  const found = isNamed ? { ...seen, contacts: [], leftOut: [] } : seen;
  const options = withAdded(
    input.options,
    form.filter(([name]) => name !== 'no-header'),
    input.cwd,
  );
  const list = input.positionals.map(showLocation).join(', ');
  reporter.report([...messages, ...foundMessages(list, found, withCells)]);
  if (found.contacts.length === 0 && !isNamed) {
    reporter.report(columnMessages(found, withCells));
    throw nameThem(
      found.rows === 0
        ? `${list} has no rows: check what makes the list, or, for an output without rows, `
        : `no column of ${list} looks like email addresses or phone numbers; `,
    );
  }
  const several = input.options.has('split-cells') ? [] : severalMessages(found, withCells);
  reporter.report(several);
  // Rows that come from one have the same key.
  const isSplit = several.length > 0 && !input.options.has('key');
  const isAsked = isInteractive(person) && !isLog && !isReadOnce;
  if (isAsked) {
    const output = options.text('output') ?? (await proposedOutput({ ...input, options }));
    const resumed = await offerToResume(
      source.name,
      { output, prefixes: prefixesOf(found, options) },
      { input, context },
    );
    if (resumed) return context.verify(resumed);
  }
  const country = chooseCountry(options, seen, env);
  reporter.report([message('found_country', { country: country.added ?? null, why: country.why })]);
  const chosen = country.added ?? (isAsked ? [await askCountry(context, signal)] : undefined);
  // The question follows once all rows are counted.
  const { fallback, isOpen = false } = country;
  const ofOthers = isOpen && !isAsked ? (fallback?.country ?? countryToFillIn) : undefined;
  if (ofOthers !== undefined && fallback) reporter.report([message('fallback_country', fallback)]);
  const proposed = options.has('output')
    ? undefined
    : await propose({ ...input, options }, reporter);
  const added: AddedOption[] = [
    ...form,
    ...found.contacts.map(({ type, name }) => [type, name] as const),
    ...prefixesOf(found, options),
    ...(isSplit ? [splitOption] : []),
    ...(chosen ?? [['country', countryToFillIn] as const]),
    ...(ofOthers === undefined ? [] : [['country', ofOthers] as const]),
    ...(proposed === undefined ? [] : [['output', proposed] as const]),
  ];
  if (!isAsked) {
    showCommand(added, input, reporter);
    throw new ConfigurationError(
      `no column is named, and ${isReadOnce ? 'Sluice cannot ask about an input that it can read only once' : 'there is no terminal to ask at'}: run the command above${added.some(([, value]) => value === countryToFillIn) ? `, with a country for ${countryToFillIn} such as US` : ''}; nothing was sent`,
    );
  }
  return askToStart(input, context, { added, proposed, fallback });
}

/**
 * Finds how a list is read where no option says so: its sheet, whether it lacks a header, its encoding.
 *
 * @returns what it seems to hold, and the options that it is read with
 */
async function findForm(
  source: Source,
  {
    sourceWith,
    input,
    isNamed,
    isSingle,
    isReadOnce,
  }: {
    readonly sourceWith: (...form: readonly AddedOption[]) => Promise<Source>;
    readonly input: CommandInput<VerifyOption>;
    readonly isNamed: boolean;
    /** Whether it is one input that can be read again: each of several may have another form. */
    readonly isSingle: boolean;
    readonly isReadOnce: boolean;
  },
): Promise<{
  readonly seen: SampledList;
  readonly form: readonly AddedOption[];
  readonly messages: readonly Message[];
}> {
  const { options, signal } = input;
  const { sheet, messages, found } = await findInSheets(
    async ({ sheet: name, noHeader }) => {
      const form: AddedOption[] = name === undefined ? [] : [['sheet', name]];
      if (noHeader) form.push(noHeaderOption);
      return form.length === 0 ? source : sourceWith(...form);
    },
    {
      isSheetGiven: options.has('sheet') || !isSingle,
      mayLackHeader: !isNamed && isSingle,
      signal,
      ...(isReadOnce && { rows: rowsOfPipe }),
    },
  );
  const { isHeaderless } = found;
  const noHeader = isHeaderless ? [noHeaderOption] : [];
  const encoding = [['encoding', windowsEncoding]] as const;
  const decoded =
    found.hasNoText && isSingle && !options.has('encoding')
      ? await findColumns(await sourceWith(...noHeader, ...encoding), { signal })
      : undefined;
  // In UTF-8 text the sign for broken bytes is one of three bytes, which are letters in that encoding.
  const isDecoded =
    decoded !== undefined &&
    !decoded.isOtherScript &&
    !decoded.all.some(({ title }) => title.includes('\u00ef\u00bf\u00bd'));
  return {
    seen: isDecoded ? decoded : found,
    form: [
      ...(sheet === undefined ? [] : [['sheet', sheet] as const]),
      ...noHeader,
      ...(isDecoded ? encoding : []),
    ],
    messages: [
      ...messages,
      ...(isHeaderless ? [message('no_header', {})] : []),
      ...(decoded
        ? [message('found_encoding', { encoding: isDecoded ? windowsEncoding : null })]
        : []),
    ],
  };
}

function nameThem(why: string): ConfigurationError {
  return new ConfigurationError(
    `${why}name the columns to verify: --email <column>, --phone <column>, or both, by name or by position (--email "#3")`,
  );
}

/** Columns that an earlier verification has added need prefixes. */
function prefixesOf(
  { contacts }: SampledList,
  options: ParsedOptions<'prefix'>,
): readonly AddedOption[] {
  if (options.has('prefix')) return [];
  return contacts.flatMap(({ name, prefix }) =>
    prefix === undefined ? [] : [['prefix', `${name}=${prefix}`] as const],
  );
}

const endings = /\.(?:csv|tsv|jsonl|ndjson|xlsx|parquet)(?:\.gz)?$/i;
/** A TXT output has no room for results. */
const textEnding = /\.txt(?:\.gz)?$/i;

/** The proposed output: beside the list, under its name and its sheet's, else in the current folder. */
async function proposedOutput(
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
  // After `list.verified.csv` comes `list.verified2.csv`.
  const [, stem = name, number = '1'] = /^(.*)\.verified(\d{0,3})$/s.exec(name) ?? [];
  const next = stem === name ? '' : String(Number(number || '1') + 1);
  const sheet = options.text('sheet');
  const output = `${stem}${sheet === undefined ? '' : `.${inFileName(sheet)}`}.verified${next}${wanted ?? ending ?? '.csv'}`;
  const folder = dirname(path);
  return (await isWritable(folder)) ? join(folder, output) : output;
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}
