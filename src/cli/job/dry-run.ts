import {
  describeStatus,
  estimateRun,
  readRunStatus,
  type DoubtfulColumn,
  type Estimate,
  type RunReports,
  type TypeEstimate,
} from '../../index.js';
import { connect } from '../connect.js';
import { describePrice } from '../options/launch-options.js';
import { paidAgainLine } from './confirm-discard.js';
import { trialLines, type Said } from '../messages/run-lines.js';
import type { Job } from './run-list.js';
import { shownCell } from '../../platform/text/printable.js';
import {
  missingCountrySentence,
  unknownCountrySentence,
} from '../../report/sentences/address-sentences.js';
import { describeCredits, counted, grouped } from '../../platform/text/shown-numbers.js';
import { describeReason, notSubmittedWords } from '../../report/sentences/reason-words.js';

const mostExamples = 3;
/** Of more countries, the largest are named. */
const mostGroups = 5;

/** Reads and counts what a run would send, and says it: also when it is quiet, for it was asked for. */
export async function dryRun(
  job: Job,
  stateDir: string | undefined,
  reports: RunReports,
): Promise<Estimate> {
  const { estimate, more, doubtful } = await estimateJob(job, stateDir, reports);
  job.reporter.doubtful(doubtful);
  const said: readonly Said[] = job.options.has('json-log')
    ? [{ event: 'estimate', fields: { ...estimate }, line: '' }]
    : describeEstimate(estimate).map((line) => ({ event: 'estimate', line }));
  const next = more.map((line) => ({ event: 'next', line }));
  job.reporter.tell([...said, ...next].map((each) => ({ ...each, isUrgent: true })));
  return estimate;
}

export interface EstimatedJob {
  readonly estimate: Estimate;
  /** Cells that would be sent as something else, what to put right, and what is paid for twice. */
  readonly more: readonly string[];
  /** Whether it replaces an output and pays for all addresses, whatever was paid for that. */
  readonly isPaidAgain: boolean;
  /** Columns that look wrong. */
  readonly doubtful: readonly DoubtfulColumn[];
}

/** Reads and counts what a run would send. */
export async function estimateJob(
  { shared, target, options, reporter, replaces }: Job,
  stateDir: string | undefined,
  reports: RunReports,
): Promise<EstimatedJob> {
  reporter.target(target);
  const connection =
    target.kind === 'service'
      ? await connect(target, options, undefined, { tell: reporter.trouble })
      : undefined;
  try {
    const examples = new Map<string, string>();
    const doubtful: DoubtfulColumn[] = [];
    // A preview of cells is for the person who asks; logs hold none.
    const isShown = !options.has('quiet') && !options.has('json-log');
    const estimate = await estimateRun({
      ...shared,
      onDoubtfulColumns: (columns) => {
        doubtful.push(...columns);
        return true;
      },
      onChangedCell: ({ column, cell, submitted }) => {
        if (!isShown || examples.size >= mostExamples) return;
        examples.set(`${shownCell(column)} ${shownCell(cell)}`, shownCell(submitted));
      },
      ...(connection && { client: connection.client }),
    });
    const changed = [...examples].map(([cell, submitted]) => `${cell} as ${submitted}`).join(', ');
    const unfinished = stateDir === undefined ? undefined : await describeUnfinished(stateDir);
    const addresses = (estimate.email?.credits ?? 0) + (estimate.phone?.credits ?? 0);
    const isPaidAgain = replaces !== undefined && unfinished === undefined && addresses > 0;
    const before = isPaidAgain ? paidAgainLine(replaces, addresses).line : unfinished;
    const more = [
      ...(changed === '' ? [] : [`some cells are sent in another form: ${changed}`]),
      ...reports.endOf(estimate).advice,
      ...trialLines(estimate, options.has('history')).map(({ line }) => line),
      ...(before === undefined ? [] : [before]),
    ];
    return { estimate, more, isPaidAgain, doubtful };
  } finally {
    await connection?.close();
  }
}

/** What a run would cost, in a line or two for somebody who is asked whether to start it. */
export function costLines({ email, phone, balance, service }: Estimate): readonly string[] {
  const types = [
    { name: 'email', noun: 'email address', type: email, has: balance?.email },
    { name: 'phone', noun: 'phone number', type: phone, has: balance?.phone },
  ].flatMap(({ type, ...each }) => (type ? [{ ...each, type }] : []));
  const sum = (of: (type: TypeEstimate) => number): number =>
    types.reduce((total, { type }) => total + of(type), 0);
  const addresses = types.map(({ noun, type }) => counted(type.addresses, noun)).join(' and ');
  const known = sum((type) => type.from_history);
  const credits = sum((type) => type.credits);
  const price =
    service === 'local' ? ', free of charge: the local service verifies' : ', before refunds';
  const has = types.flatMap(({ name, has: each }) =>
    each === undefined ? [] : [counted(each, `${name} credit`)],
  );
  const missing = types.flatMap(({ name, type, has: each }) =>
    each !== undefined && each < type.credits
      ? [`${counted(type.credits - each, `${name} credit`)} too few`]
      : [],
  );
  const reasons = Object.keys(notSubmittedWords).flatMap((code) => {
    const cells = sum((type) => type.not_submitted[code] ?? 0);
    return cells > 0 ? [`${grouped(cells)} ${describeReason(code)}`] : [];
  });
  return [
    `${addresses}: ${grouped(credits)} ${credits === 1 ? 'credit' : 'credits'} at most${price}${known > 0 ? ` (${grouped(known)} ${known === 1 ? 'is' : 'are'} in the history)` : ''}`,
    ...(has.length > 0 ? [`the account has ${[has.join(' and '), ...missing].join(', ')}`] : []),
    ...(reasons.length > 0 ? [`cells that cannot be sent: ${reasons.join(', ')}`] : []),
  ];
}

/** Rows that cannot be sent for want of a country. */
export function countryLines({ countries }: Estimate): readonly string[] {
  if (!countries) return [];
  return [
    ...(countries.not_understood > 0
      ? [`${unknownCountrySentence(countries)}; such rows are not sent`]
      : []),
    ...(countries.missing > 0 ? [missingCountrySentence(countries, false)] : []),
  ];
}

function describeEstimate(estimate: Estimate): readonly string[] {
  const { rows, limit, email, phone, balance } = estimate;
  const first = limit === undefined ? '' : ` of at most ${grouped(limit)}`;
  return [
    `dry run: ${counted(rows, 'row')}${first} read, nothing is sent`,
    ...describeType('email', email, balance?.email),
    ...describeType('phone', phone, balance?.phone),
    ...(email && phone
      ? [`credits in all: ${grouped(email.credits + phone.credits)} at most`]
      : []),
    ...countryLines(estimate),
  ];
}

function describeType(
  name: string,
  type: TypeEstimate | null,
  balance: number | undefined,
): readonly string[] {
  if (!type) return [];
  const reasons = Object.entries(type.not_submitted).map(
    ([reason, count]) => `${grouped(count)} ${describeReason(reason)}`,
  );
  return [
    `${name}: ${counted(type.addresses, 'address')} (${counted(type.duplicates, 'duplicate')})${type.from_history > 0 ? `, ${grouped(type.from_history)} of them in the history` : ''}`,
    ...(reasons.length > 0 ? [`${name}: cells that cannot be sent: ${reasons.join(', ')}`] : []),
    `${name} batches: ${describeGroups(type.groups)}`,
    `${name} credits: ${describePrice(type.credits, balance)}`,
  ];
}

function describeGroups(groups: TypeEstimate['groups']): string {
  if (groups.length === 0) return 'none';
  const largestFirst = groups.toSorted((one, other) => other.addresses - one.addresses);
  const shown = groups.length > mostGroups + 1 ? largestFirst.slice(0, mostGroups) : groups;
  const named = shown.map(
    ({ country, addresses, batches }) => `${country} ${batches} (${counted(addresses, 'address')})`,
  );
  const others = largestFirst.slice(shown.length);
  if (others.length > 0) {
    const sum = (of: 'batches' | 'addresses'): number =>
      others.reduce((total, group) => total + group[of], 0);
    named.push(
      `${others.length} more countries ${grouped(sum('batches'))} (${counted(sum('addresses'), 'address')})`,
    );
  }
  return named.join(', ');
}

/** What is paid already is not paid again, and the estimate does not know of it. */
async function describeUnfinished(stateDir: string): Promise<string | undefined> {
  const status = await readRunStatus(stateDir).catch(() => undefined);
  if (!status || status.isFinished) return undefined;
  const paid = describeCredits(status.launchedCredits);
  const next = `with the same list, the same command ${describeStatus(status).next}`;
  const has = paid === undefined ? 'nothing yet' : `${paid}, which are not paid again`;
  return `the unfinished run in ${stateDir} has paid ${has}; ${next}`;
}
