import { estimateRun, readRunStatus, type Estimate, type TypeEstimate } from '../index.js';
import { connect } from './connect.js';
import { describePrice } from './launch-options.js';
import { say } from './print.js';
import { lostDigitsSentence } from '../words/lost-digits-sentence.js';
import type { Job } from './run-list.js';
import { shownCell } from '../words/shown-cell.js';
import { counted } from '../words/shown-numbers.js';

const mostExamples = 5;
/** Of more countries, the largest are named. */
const mostLanes = 5;

/** Reads and counts what a run would send, and says it: also when it is quiet, for it was asked for. */
export async function dryRun(
  { shared, target, options, reporter }: Job,
  stateDir: string | undefined,
): Promise<Estimate> {
  reporter.target(target);
  const connection =
    target.kind === 'service'
      ? await connect(target, options, undefined, reporter.trouble)
      : undefined;
  try {
    const examples = new Map<string, string>();
    // A preview of cells is for the person who asks; logs hold none.
    const isShown = !options.has('quiet') && !options.has('json-log');
    const estimate = await estimateRun({
      ...shared,
      onChangedCell: ({ column, cell, submitted }) => {
        if (!isShown || examples.size >= mostExamples) return;
        examples.set(`${shownCell(column)}: ${shownCell(cell)}`, shownCell(submitted));
      },
      ...(connection && { client: connection.client }),
    });
    for (const line of describeEstimate(estimate)) say(`sluice: ${line}`);
    for (const [cell, submitted] of examples) {
      say(`sluice: ${cell} would be sent as ${submitted}`);
    }
    if (stateDir !== undefined) await describeUnfinished(stateDir);
    return estimate;
  } finally {
    await connection?.close();
  }
}

function describeEstimate(estimate: Estimate): readonly string[] {
  const { rows, limit, email, phone, balance } = estimate;
  const first = limit === undefined ? '' : ` of at most ${limit}`;
  return [
    `dry run: ${rows} rows${first} read, nothing is sent`,
    ...describeType('email', email, balance?.email),
    ...describeType('phone', phone, balance?.phone),
  ];
}

function describeType(
  name: string,
  type: TypeEstimate | null,
  balance: number | undefined,
): readonly string[] {
  if (!type) return [];
  const lost = type.not_submitted.scientific_notation ?? 0;
  const reasons = Object.entries(type.not_submitted).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${name}: ${counted(type.addresses, 'address')} (${counted(type.duplicates, 'duplicate')})${type.from_history > 0 ? `, ${type.from_history} of them in the history` : ''}`,
    ...(reasons.length > 0 ? [`${name}: cells that cannot be sent: ${reasons.join(', ')}`] : []),
    ...(lost > 0 ? [lostDigitsSentence(lost)] : []),
    `${name} batches: ${describeLanes(type.lanes)}`,
    `${name} credits: ${describePrice(type.credits, balance)}`,
  ];
}

function describeLanes(lanes: TypeEstimate['lanes']): string {
  if (lanes.length === 0) return 'none';
  const largestFirst = lanes.toSorted((one, other) => other.addresses - one.addresses);
  const shown = lanes.length > mostLanes + 1 ? largestFirst.slice(0, mostLanes) : lanes;
  const named = shown.map(
    ({ country, addresses, batches }) => `${country} ${batches} (${counted(addresses, 'address')})`,
  );
  const others = largestFirst.slice(shown.length);
  if (others.length > 0) {
    const sum = (of: 'batches' | 'addresses'): number =>
      others.reduce((total, lane) => total + lane[of], 0);
    named.push(
      `${others.length} more countries ${sum('batches')} (${counted(sum('addresses'), 'address')})`,
    );
  }
  return named.join(', ');
}

/** What is paid already is not paid again, and the estimate does not know of it. */
async function describeUnfinished(stateDir: string): Promise<void> {
  const status = await readRunStatus(stateDir).catch(() => undefined);
  if (!status || status.isFinished) return;
  const { email, phone } = status.launchedCredits;
  say(
    `sluice: these figures are for the whole list; the unfinished run in ${stateDir} has launched ${email} email and ${phone} phone credits, which the same command does not pay again`,
  );
}
