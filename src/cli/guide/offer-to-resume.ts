import { optionsOfRun } from '../../engine/runs/reporting/read-status.js';
import { describeCredits, startText } from '../../platform/text/shown-numbers.js';
import { findStatus } from '../job/questions.js';
import { verifyOptions } from '../options/verify-options.js';
import { ask, type Person } from '../terminal/ask-person.js';
import type { AddedOption } from './choose-country.js';

/** An unfinished run of the list that has paid for some of it. */
export interface PaidRun {
  /** The options that it was begun with. */
  readonly added: readonly AddedOption[];
  readonly question: string;
}

/** @param list the input, by the name that runs know it by */
export async function findPaidRun(
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

export async function wantsToResume(
  { question }: PaidRun,
  person: Person,
  signal: AbortSignal,
): Promise<boolean> {
  return /^(?:y(?:es)?)?$/i.test((await ask(question, person, signal)) ?? 'n');
}
