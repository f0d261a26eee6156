import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError, findColumns, type SampledList, type Source } from '../../index.js';
import { showLocation } from '../../lists/location.js';
import { inFileName } from '../../platform/text/printable.js';
import { isInteractive, type Person } from '../terminal/ask-person.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { findSource, stateDirectoryOf } from '../endpoints/list-ends.js';
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
import { message } from '../messages/message.js';
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
import { findPaidRun, wantsToResume } from './offer-to-resume.js';
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
  // A sheet is named for all inputs; an input that can be read once has no second reading.
  const isSheetGiven = input.options.has('sheet') || inputs.length > 1 || isReadOnce;
  const sheets = await findInSheets(
    async ({ sheet: name, noHeader }) =>
      name === undefined && !noHeader
        ? source
        : sourceWith(
            ...(name === undefined ? [] : [['sheet', name] as const]),
            ...(noHeader ? [noHeaderOption] : []),
          ),
    {
      isSheetGiven,
      mayLackHeader: !isNamed && inputs.length === 1 && !isReadOnce,
      signal,
      ...(isReadOnce && { rows: rowsOfPipe }),
    },
  );
  const { sheet, messages } = sheets;
  const { isHeaderless } = sheets.found;
  const noHeader = isHeaderless ? [noHeaderOption] : [];
  // Of several inputs each may have another encoding.
  const seeksEncoding =
    sheets.found.hasNoText && inputs.length === 1 && !isReadOnce && !input.options.has('encoding');
  const windows = [['encoding', windowsEncoding]] as const;
  const decoded = seeksEncoding
    ? await findColumns(await sourceWith(...noHeader, ...windows), { signal })
    : undefined;
  // In UTF-8 text the sign for broken bytes is one of three bytes, which are letters in that encoding.
  const isEncodingFound =
    decoded !== undefined && !decoded.all.some(({ title }) => title.includes('\u00ef\u00bf\u00bd'));
  const encoding = isEncodingFound ? windows : [];
  const seen = isEncodingFound ? decoded : sheets.found;
  const found = isNamed ? { ...seen, contacts: [], leftOut: [] } : seen;
  const options = withAdded(
    input.options,
    sheet === undefined ? encoding : [['sheet', sheet]],
    input.cwd,
  );
  const list = input.positionals.map(showLocation).join(', ');
  reporter.report([
    ...messages,
    ...(isHeaderless ? [message('no_header', {})] : []),
    ...(isEncodingFound ? [message('found_encoding', { encoding: windowsEncoding })] : []),
    ...foundMessages(list, found, withCells),
  ]);
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
    const stateDir = stateDirectoryOf(locationOf(output, input), input);
    const unfinished = await findPaidRun(source.name, stateDir);
    if (unfinished) {
      const given = new Set(input.options.given().map(([name]) => name));
      const added: readonly AddedOption[] = [
        ...unfinished.added.filter(([name]) => !given.has(name)),
        ...prefixesOf(found, options),
        ...(given.has('output') ? [] : [['output', output] as const]),
      ];
      showCommand(added, input, reporter);
      if (await wantsToResume(unfinished, person, signal)) return context.verify(added);
    }
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
    ...(sheet === undefined ? [] : [['sheet', sheet] as const]),
    ...noHeader,
    ...encoding,
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
