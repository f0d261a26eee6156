import { optionsOfRun } from '../../engine/runs/reporting/read-status.js';
import { describeCredits, startText } from '../../platform/text/shown-numbers.js';
import { findStatus } from '../job/questions.js';
import { ask } from '../terminal/ask-person.js';
import type { CommandInput } from '../command.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { locationOf } from '../endpoints/locations.js';
import { type VerifyOption, verifyOptions } from '../options/verify-options.js';
import { type GuideContext, showCommand } from './ask-to-start.js';
import type { AddedOption } from './choose-country.js';

/** An unfinished run of the list that has paid for some of it. */
interface PaidRun {
  /** The options that it was begun with. */
  readonly added: readonly AddedOption[];
  readonly question: string;
}

/**
 * Offers to continue the unfinished run of a list that has paid for some of it.
 *
 * @param list the input, by the name that runs know it by
 *
 * @returns the options to continue it with; `undefined` where there is none, or the person declines
 */
export async function offerToResume(
  list: string,
  { output, prefixes }: { readonly output: string; readonly prefixes: readonly AddedOption[] },
  {
    input,
    context: { person, reporter },
  }: { readonly input: CommandInput<VerifyOption>; readonly context: GuideContext },
): Promise<readonly AddedOption[] | undefined> {
  const unfinished = await findPaidRun(list, stateDirectoryOf(locationOf(output, input), input));
  if (!unfinished) return undefined;
  const given = new Set(input.options.given().map(([name]) => name));
  const added: readonly AddedOption[] = [
    ...unfinished.added.filter(([name]) => !given.has(name)),
    ...prefixes,
    ...(given.has('output') ? [] : [['output', output] as const]),
  ];
  showCommand(added, input, reporter);
  const answer = (await ask(unfinished.question, person, input.signal)) ?? 'n';
  return /^(?:y(?:es)?)?$/i.test(answer) ? added : undefined;
}

async function findPaidRun(
  list: string,
  stateDir: string | undefined,
): Promise<PaidRun | undefined> {
  if (stateDir === undefined) return undefined;
  const status = await findStatus(stateDir);
  const paid = status && describeCredits(status.launchedCredits);
  if (paid === undefined || status?.isFinished !== false || status.input !== list) return undefined;
  const begunWith = (await optionsOfRun(stateDir)) ?? {};
  const { header, ...others } = begunWith;
  const added = Object.entries(others).flatMap(([name, given]) => {
    const known = verifyOptions.find((each) => each.name === name)?.name;
    const values = Array.isArray(given) ? given : [given];
    return values.flatMap((value): readonly AddedOption[] => {
      const isText = typeof value === 'string' || typeof value === 'number';
      return known && (isText || value === true) ? [[known, isText ? String(value) : true]] : [];
    });
  });
  return {
    added: header === false ? [['no-header', true], ...added] : added,
    question: `This is the command of the run of ${startText(status.startedAt)}, which is unfinished and has paid ${paid}. Resume it? [Y/n]`,
  };
}
