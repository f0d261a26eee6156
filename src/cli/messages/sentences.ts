import type {
  ComparedExport,
  Estimate,
  Preflight,
  PreparedType,
  TypeEstimate,
  UnfinishedRun,
} from '../../index.js';
import { isExportWrong } from '../../engine/batches/export-check.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import {
  missingCountrySentence,
  noCountrySentence,
  emailCountrySentence,
  emailsWithoutCountry,
  unknownCountrySentence,
} from '../../report/sentences/list-sentences.js';
import { describeReason, notSubmittedWords } from '../../report/sentences/reason-words.js';

export function adviceOn(reason: string, exported: ComparedExport | undefined): string {
  if (reason === 'launch_lost') {
    return "the service has lost its launch, which may be paid for nothing: --retry-failed sends its addresses again, and pays again. Give the batch_uuid to the service's support";
  }
  if (!isExportWrong(reason)) return "report it to the service's support";
  // A service may leave a flag out of all its records.
  const records =
    reason === 'export_incomplete'
      ? ' (a record without all of `valid`, `wrong` and `unknown` counts as none)'
      : '';
  const held = exported ? `${describeDifference(exported)}${records}. ` : '';
  return `${held}Its results are paid for and the batch is kept on the service: --retry-failed asks for its export again, which is free. If that does not help, give the batch_uuid to the service's support`;
}

export function describeDifference({
  counted: seen,
  named,
  strangers,
  conflicting,
  missing = 0,
}: ComparedExport): string {
  const parts = [
    seen === null
      ? `the export names ${named} of its addresses`
      : `the service counted ${counted(seen, 'verified address')}, the export names ${named}`,
  ];
  if (strangers > 0) parts.push(`has ${counted(strangers, 'record')} of other addresses`);
  if (conflicting > 0)
    parts.push(
      `contradicts itself on ${counted(conflicting, 'address')}, which ${conflicting === 1 ? 'gets' : 'get'} no result`,
    );
  if (missing > 0)
    parts.push(
      `lacks ${counted(missing, 'address')} that should be there, though it was asked for again`,
    );
  return parts.join(', ');
}

export interface BatchNames {
  readonly name: string;
  readonly batch_uuid: string | null;
}

export function batchName({ name, batch_uuid: uuid }: BatchNames): string {
  return `batch ${name}${uuid === null ? '' : ` (${uuid})`}`;
}

export const waitingWords = {
  not_found:
    'the service does not find it (404). Sluice asks again for about a minute; then its addresses fail',
  not_uploaded: 'its upload was not confirmed. Sluice looks for it and tries again',
  not_prepared: 'the service does not prepare it. Sluice tries again',
  not_launched: 'the service does not launch it. Sluice tries again; it is paid for once at most',
  broken_export:
    'its export is not there yet, or does not arrive whole. Sluice asks again, which costs nothing: its results are paid for',
} as const;

export type WaitingReason = keyof typeof waitingWords;

/** @param meant one with a name like it */
export function emptyHistorySentence(history: string, meant: string | null): string {
  return `The history ${history} has no results of this list${meant === null ? '' : `; did you mean ${meant}?`}`;
}

/** Where the batches of a dropped run stay; part of the question, too. */
export function keptSentence(batches: number, service: string): string {
  return `${counted(batches, 'batch')} of the dropped run ${batches === 1 ? 'is' : 'are'} on ${service}`;
}

const mostNames = 3;

/** The first few names; a log has all. */
export function firstNames(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
}

const mostGroups = 5;

/** The cost of a run in one or two lines, for the question whether to start. */
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
    `${addresses}: ${counted(credits, 'credit')} at most${price}${known > 0 ? ` (${grouped(known)} ${known === 1 ? 'is' : 'are'} in the history)` : ''}`,
    ...(has.length > 0 ? [`the account has ${[has.join(' and '), ...missing].join(', ')}`] : []),
    ...(reasons.length > 0 ? [`cells that cannot be sent: ${reasons.join(', ')}`] : []),
  ];
}

export function countryLines({
  countries,
  emails,
  is_asked: isAsked = false,
}: {
  readonly countries?: Estimate['countries'];
  /** Those of rows whose country is not understood. */
  readonly emails: number;
  readonly is_asked?: boolean;
}): readonly string[] {
  if (!countries) return [];
  const missing = isAsked ? noCountrySentence : () => missingCountrySentence(countries, false);
  return [
    ...(countries.not_understood > 0
      ? [
          `${unknownCountrySentence(countries)}; such rows are not sent${emailCountrySentence(emails)}`,
        ]
      : []),
    ...(countries.missing > 0 ? [missing(countries.missing)] : []),
  ];
}

export function describeEstimate(estimate: Estimate): readonly string[] {
  const { rows, email, phone, balance, unfinished } = estimate;
  // It would send nothing: what it needs is not known.
  const isStopped = unfinished?.action === 'stop';
  return [
    `dry run: ${counted(rows, 'row')} read, nothing is sent`,
    ...describeType('email', email, balance?.email, isStopped),
    ...describeType('phone', phone, balance?.phone, isStopped),
    ...(email && phone && !isStopped
      ? [`credits in all: ${grouped(email.credits + phone.credits)} at most`]
      : []),
    ...countryLines({ ...estimate, emails: emailsWithoutCountry(email?.not_submitted) }),
    ...(estimate.state_locked
      ? [
          'another process works on this run now: until it ends, this command ends with exit code 2 (state_locked), or waits for it with --wait-lock',
        ]
      : []),
  ];
}

/** What a run would do with the unfinished one, and what that one has paid. */
export function describeUnfinished({
  state,
  action,
  why,
  paid,
  paid_addresses: paidAddresses,
  used_addresses: used,
  enough_credits: enough,
  next,
}: Omit<UnfinishedRun, 'paid' | 'started_at'> & {
  readonly state: string;
  readonly paid: string | null;
  readonly next: string | null;
}): string {
  const run = `the unfinished run in ${state}`;
  const hasPaid = `has paid ${paid ?? 'nothing yet'}`;
  if (action === 'stop') return `${run} ${hasPaid}, and this command would stop: ${why}`;
  if (action === 'resume') {
    const does =
      enough === null
        ? `it ${next ?? 'goes on'}`
        : `--max-credits stops it with exit code 5 (${grouped(enough)} is enough for all of it)`;
    return `this command resumes ${run}, which ${hasPaid}: ${does}${paid === null ? '' : ', and it pays for none of it again'}`;
  }
  const change = why === null ? '' : ` (${why})`;
  const replaces = `this command replaces ${run}, which ${hasPaid}, by a run of this list${change}`;
  if (paid === null || paidAddresses === 0) return replaces;
  const of =
    used === null || paidAddresses === null
      ? 'its results'
      : `${grouped(used)} of ${counted(paidAddresses, 'paid address')}`;
  return `${replaces}: ${of} ${used === 1 ? 'is' : 'are'} used again, and not paid again`;
}

function describeType(
  name: string,
  type: TypeEstimate | null,
  balance: number | undefined,
  isStopped: boolean,
): readonly string[] {
  if (!type) return [];
  const reasons = Object.entries(type.not_submitted).map(
    ([reason, count]) => `${grouped(count)} ${describeReason(reason)}`,
  );
  return [
    `${name}: ${counted(type.addresses, 'address')} (${counted(type.duplicates, 'duplicate')})${type.from_history > 0 ? `, ${grouped(type.from_history)} of them in the history` : ''}`,
    ...(reasons.length > 0 ? [`${name}: cells that cannot be sent: ${reasons.join(', ')}`] : []),
    ...(isStopped
      ? []
      : [
          `${name} batches: ${describeGroups(type.groups)}`,
          `${name} credits: ${describePrice(type.credits, balance)}`,
        ]),
  ];
}

function describeGroups(groups: TypeEstimate['groups']): string {
  if (groups.length === 0) return 'none';
  const largestFirst = groups.toSorted((one, other) => other.addresses - one.addresses);
  const shown = groups.length > mostGroups + 1 ? largestFirst.slice(0, mostGroups) : groups;
  const named = shown.map(
    ({ country, addresses, batches }) =>
      `${country} ${grouped(batches)} (${counted(addresses, 'address')})`,
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

export function describePreflight({ email, phone, balance }: Preflight): readonly string[] {
  return [
    ...describePrepared('email', email, balance?.email_credit),
    ...describePrepared('phone', phone, balance?.phone_credit),
    ...(balance ? [] : ["the service does not report the account's credits: they may be too few"]),
  ];
}

function describePrepared(
  name: string,
  type: PreparedType | null,
  balance: number | undefined,
): readonly string[] {
  if (!type) return [];
  const { batches, addresses, counts, credits } = type;
  const seen = counts
    ? `; the service counted ${grouped(counts.valid)} of a right format, ${grouped(counts.wrong)} of a wrong one and ${counted(counts.duplicate, 'duplicate')}`
    : '';
  return [
    `${name}: ${counted(addresses, 'address')} in ${counted(batches, 'batch')} ${addresses === 1 ? 'is' : 'are'} prepared${seen}`,
    `${name} credits: ${describePrice(credits, balance, counts ? 'by these counts' : 'at most')}`,
  ];
}

function describePrice(
  credits: number,
  balance: number | null | undefined,
  how = 'at most',
): string {
  const price = `${grouped(credits)} needed ${how}, before refunds`;
  if (balance === undefined || balance === null) return price;
  const missing = credits - balance;
  const short = missing > 0 ? `, ${grouped(missing)} too few` : '';
  return `${price}; the account has ${grouped(balance)}${short}`;
}
