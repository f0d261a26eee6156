import { showLocation } from '../../lists/location.js';
import { shellQuote } from '../../platform/text/printable.js';
import { counted } from '../../platform/text/shown-numbers.js';
import {
  type CommandInput,
  type OptionDefinition,
  type ParsedOptions,
  programName,
} from '../command.js';
import { mayHoldPassword, standard } from '../endpoints/locations.js';
import { message } from '../messages/catalogue.js';
import { placed } from '../options/option-types.js';
import { verifyOptions } from '../options/verify-options.js';
import type { Reporter } from '../terminal/reporter.js';
import type { AddedOption } from './choose-country.js';

/** What is added to the given command. */
export interface Proposal {
  /** Detected options. */
  readonly added: readonly AddedOption[];
  readonly other?: OtherWay | undefined;
}

/** The command that writes the results into the table that the rows come from, where a file is proposed. */
interface OtherWay {
  readonly added: readonly AddedOption[];
  /** What it does, in front of it. */
  readonly what: string;
}

/** In place of a country, and the code of none; without brackets, which a shell takes for a file's name. */
export const countryToFillIn = 'XX';

/** Shows the whole commands. @param answered options that were chosen since they were proposed */
export function showCommands(
  { added, other }: Proposal,
  answered: readonly AddedOption[],
  input: CommandInput<never>,
  reporter: Reporter,
): void {
  showCommand([...added, ...answered], input, reporter);
  if (!other) return;
  // A state directory belongs to its output.
  const ofOther = answered.filter(([name]) => name !== 'state');
  showCommand([...other.added, ...ofOther], input, reporter, other.what);
}

/** Shows the given command with the detected options, for a shell. Secrets are named, not printed. */
export function showCommand(
  added: readonly AddedOption[],
  input: CommandInput<never>,
  reporter: Reporter,
  what = 'the whole command',
): void {
  const hidden = new Set<string>();
  const words = argumentsOf(input, added).map((argument) => {
    if (!mayHoldPassword(argument)) return shellQuote(argument);
    hidden.add(showLocation(argument));
    return shellQuote(showLocation(argument));
  });
  reporter.close();
  reporter.report([
    message('command', { what, command: [programName(input), 'verify', ...words].join(' ') }),
    ...[...hidden].map((place) => message('hidden_password', { place })),
  ]);
}

const definitions: readonly OptionDefinition[] = verifyOptions;
const single: ReadonlySet<string> = new Set(['output', 'query']);

/** The options with the detected ones added; those replace options of the same name. */
export function withAdded<Name extends string>(
  options: ParsedOptions<Name>,
  added: readonly AddedOption[],
  cwd: string,
): ParsedOptions<Name> {
  const values = new Map<string, (string | true)[]>();
  for (const [name, value] of added) {
    const definition = definitions.find((known) => known.name === name);
    const given = definition ? placed(value, definition, cwd) : value;
    const before = single.has(name) ? [] : (values.get(name) ?? []);
    values.set(name, [...before, given]);
  }
  return options.with(values);
}

function argumentsOf(
  { positionals, given }: CommandInput<never>,
  added: readonly AddedOption[],
): readonly string[] {
  const ofCommand = given
    .given()
    .flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const all = [...ofCommand, ...added];
  // A proposed query takes the place of the given one.
  const isLast = (each: (typeof all)[number]): boolean =>
    !single.has(each[0]) || each === all.findLast(([name]) => name === each[0]);
  return [
    ...positionals.map((path) => (path.startsWith('-') && path !== standard ? `./${path}` : path)),
    ...all.filter(isLast).flatMap(([name, value]) => {
      if (value === true) return [`--${name}`];
      // A leading dash would make it an option; a value that may be omitted has to be attached.
      const isAttached = definitions.some((each) => each.name === name && each.mayBeBare);
      return isAttached || (value.startsWith('-') && value !== standard)
        ? [`--${name}=${value}`]
        : [name === 'output' ? '-o' : `--${name}`, value];
    }),
  ];
}

/**
 * What of a list is verified, where it is less than all, or more than one sheet: beside the question.
 *
 * @param table one of several with addresses, that was chosen
 */
export function whatIsTaken(
  options: ParsedOptions<'sheet'>,
  table: string | undefined,
  suppressed: readonly string[],
  cells: number,
): string {
  const sheet = options.text('sheet');
  const sheets =
    sheet === 'all'
      ? 'all sheets'
      : `${sheet?.includes(',') ? 'the sheets' : 'only the sheet'} ${JSON.stringify(sheet)}`;
  const lists = suppressed.map((list) => JSON.stringify(list)).join(' or ');
  const taken = [
    ...(sheet === undefined ? [] : [sheets]),
    ...(table === undefined ? [] : [`only the table ${JSON.stringify(table)}`]),
    ...(suppressed.length === 0 ? [] : [`${counted(cells, 'cell')} left out by ${lists}`]),
  ];
  return taken.length === 0 ? '' : ` (${taken.join(', ')})`;
}
