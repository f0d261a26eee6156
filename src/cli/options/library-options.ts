import { runShape, streamRunShape } from '../../engine/runs/options/option-shapes.js';
import type { RunOptions, StreamRunOptions } from '../../index.js';
import { exclusion, type Wanted } from '../../platform/check-options.js';
import type { OptionDefinition, OptionRule, ParsedOptions } from '../command.js';
import { needsState, textType } from './option-types.js';

/* The options of run() on the command line: names, types and conflicts are from the table by which run() checks them. */

type Table = typeof runShape;

type LibraryOption = {
  [Each in keyof Table]: Table[Each] extends { readonly flag: { readonly name: infer Name } }
    ? Name
    : never;
}[keyof Table];

const table: Readonly<Record<string, Wanted>> = runShape;

export const libraryOptions: readonly OptionDefinition<LibraryOption>[] = Object.entries(
  table,
).flatMap(([library, wanted]) => {
  const { flag, asText } = wanted;
  if (!flag) return [];
  const { unit: _unit, shown: _shown, decides, ...shown } = flag;
  const definition = { ...shown, name: flag.name as LibraryOption, library };
  return {
    ...definition,
    // run() itself compares what the others decide.
    ...(decides === 'this process' && { decides }),
    ...(asText && { type: textType(wanted, flag) }),
    ...(asText?.gather && { isRepeatable: library !== 'columns', gather: asText.gather }),
    // Options that streams lack concern runs with state.
    rules: [...exclusionRules(library), ...(isOfStreams(definition) ? [] : [needsState])],
  };
});

export function libraryOptionsOf(group: string): readonly OptionDefinition<LibraryOption>[] {
  return libraryOptions.filter((each) => each.group === group);
}

export function exclusionRules(library: string): readonly OptionRule[] {
  const { excludes = {} } = table[library] ?? {};
  return Object.keys(excludes).map((other) => ({
    anyOf: [table[other]?.flag?.name ?? other],
    is: 'refused',
    message: () => exclusion(library, other, excludes),
  }));
}

/** The given options that streams have, too. */
export function givenOptions(options: ParsedOptions<LibraryOption>): Partial<StreamRunOptions> {
  const given: object = options.libraryValues(libraryOptions.filter(isOfStreams));
  return given;
}

export function givenOptionsOfKeptRuns(
  options: ParsedOptions<LibraryOption>,
): Partial<Omit<RunOptions, keyof StreamRunOptions | 'stateDir' | 'store'>> {
  const given: object = options.libraryValues(libraryOptions.filter((each) => !isOfStreams(each)));
  return given;
}

function isOfStreams({ library = '' }: OptionDefinition): boolean {
  return library in streamRunShape;
}
