import { describeCredits, grouped } from '../../platform/text/shown-numbers.js';
import type { CommandInput } from '../command.js';
import { stateDirectoryOf } from '../endpoints/list-ends.js';
import { asWritten, locationOf } from '../endpoints/locations.js';
import { findOtherRuns, isSameInput } from '../job/paid-again.js';
import { type EstimatedJob, totalOf } from '../job/estimate-job.js';
import type { VerifyOption } from '../options/verify-options.js';
import { agrees, type Person } from '../terminal/ask-person.js';
import type { AddedOption } from './choose-country.js';
import type { EstimateWith } from './choose-history.js';

/** The list is read once for each. */
const mostRuns = 3;

/**
 * Where an unfinished run of another list has paid for addresses of this one, as that of the day before under
 * another name, offers to use its results: a run in its state directory does.
 *
 * @returns what such a run would send, with the option in `added`; else what was counted
 */
export async function countWithOtherRun(
  counted: EstimatedJob,
  added: AddedOption[],
  input: CommandInput<VerifyOption>,
  { person, estimate }: { readonly person: Person; readonly estimate: EstimateWith },
): Promise<EstimatedJob> {
  const { options, cwd, signal } = input;
  const { service, unfinished, balance } = counted.estimate;
  const output = added.findLast(([name]) => name === 'output')?.[1] ?? options.text('output');
  const isNew = !unfinished && !options.has('state') && !options.has('fresh');
  if (
    !isNew ||
    service === 'local' ||
    totalOf(counted, 'credits') === 0 ||
    typeof output !== 'string'
  ) {
    return counted;
  }
  const own = stateDirectoryOf(locationOf(output, input), input);
  const others = (await findOtherRuns(own, cwd)).filter(
    (each) => each.service === service && !isSameInput(each, counted.estimate.input),
  );
  for (const run of others.slice(0, mostRuns)) {
    const option = ['state', asWritten(cwd, run.stateDir)] as const;
    const tried = await estimate([...added, option], { isOffline: true });
    const used = tried.estimate.unfinished?.used_addresses ?? 0;
    if (used === 0) continue;
    const question = `An unfinished run of ${asWritten(cwd, run.input)} has paid ${describeCredits(run.launchedCredits) ?? ''}, for ${grouped(used)} of these addresses among others. Use its results, in place of finishing it (--state)?`;
    if (!(await agrees(question, person, signal, true))) return counted;
    added.push(option);
    return { ...tried, estimate: { ...tried.estimate, balance } };
  }
  return counted;
}
