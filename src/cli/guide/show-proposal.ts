import { emailsWithoutCountry } from '../../report/sentences/list-sentences.js';
import type { CommandInput } from '../command.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { GuideContext } from './ask-to-start.js';
import type { AddedOption } from './choose-country.js';
import { chooseHistory } from './choose-history.js';
import { countryToFillIn, type Proposal, showCommand, showCommands } from './whole-command.js';

/**
 * Shows the command to a script, which nobody answers, with the doubts that a person reads above the question.
 *
 * @param country whether it is known; else doubts that depend on it are not. A service that is not named yet is
 *   no obstacle to counting.
 */
export async function showProposal(
  input: CommandInput<VerifyOption>,
  { reporter, estimate }: GuideContext,
  proposal: Proposal,
  country: { readonly isKnown: boolean; readonly lacksService: boolean },
): Promise<void> {
  const { added } = proposal;
  const known = added.filter(([, value]) => value !== countryToFillIn);
  const phone = known.find(([name]) => name === 'phone')?.[1];
  // Emails are counted the same whatever their country is.
  const assumed =
    phone === undefined ? (['country', 'US'] as const) : (['country-from', phone] as const);
  const counting: readonly AddedOption[] = [
    ...known,
    ...(country.isKnown ? [] : [assumed, ['email-country', 'US'] as const]),
    ...(country.lacksService ? [['local', true] as const] : []),
  ];
  const first = await estimate(counting, { isOffline: true }).catch((error: unknown) => {
    showCommand(proposal.added, input, reporter);
    throw error;
  });
  const ofRun = { added: counting, isCountryKnown: country.isKnown };
  const history = await chooseHistory(first, ofRun, input, estimate);
  const { counted } = history;
  const { countries, email } = counted.estimate;
  const emails = emailsWithoutCountry(email?.not_submitted);
  if (country.isKnown) {
    const isAsked = known.length < added.length;
    if (countries)
      reporter.report([message('countries', { countries, emails, is_asked: isAsked })]);
    reporter.doubtful(counted.doubtful);
  }
  // Cells are shown to a person, never in a log.
  const more = counted.more.filter(({ event }) => event !== 'changed_cells');
  reporter.report([...more, ...counted.before, ...history.messages]);
  showCommands(proposal, history.added, input, reporter);
}
