import { estimateRun, readRunStatus, type Estimate, type TypeEstimate } from '../index.js';
import { connect } from './connect.js';
import { describePrice } from './launch-options.js';
import { say } from './print.js';
import type { Job } from './run-list.js';

/** Reads and counts what a run would send, and says it: also when it is quiet, for it was asked for. */
export async function dryRun(
  { shared, target, options, reporter }: Job,
  stateDir: string | undefined,
): Promise<Estimate> {
  reporter.target(target);
  const connection =
    target.kind === 'service' ? await connect(target, options, undefined) : undefined;
  try {
    const estimate = await estimateRun({
      ...shared,
      ...(connection && { client: connection.client }),
    });
    for (const line of describeEstimate(estimate)) say(`sluice: ${line}`);
    if (stateDir !== undefined) await describeUnfinished(stateDir);
    return estimate;
  } finally {
    await connection?.close();
  }
}

function describeEstimate(estimate: Estimate): readonly string[] {
  const { rows, email, phone, balance } = estimate;
  return [
    `dry run: ${rows} rows read, nothing is sent`,
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
  const reasons = Object.entries(type.not_submitted).map(([reason, count]) => `${count} ${reason}`);
  const lanes = type.lanes.map(
    ({ country, addresses, batches }) => `${country} ${batches} (${addresses} addresses)`,
  );
  return [
    `${name}: ${type.addresses} addresses (${type.duplicates} duplicates), ${type.from_history} of them in the history`,
    ...(reasons.length > 0 ? [`${name}: cells that cannot be sent: ${reasons.join(', ')}`] : []),
    `${name} batches: ${lanes.length > 0 ? lanes.join(', ') : 'none'}`,
    `${name} credits: ${describePrice(type.credits, balance)}`,
  ];
}

/** What is paid already is not paid again, and the estimate does not know of it. */
async function describeUnfinished(stateDir: string): Promise<void> {
  const status = await readRunStatus(stateDir).catch(() => undefined);
  if (!status || status.isFinished) return;
  const { email, phone } = status.launchedCredits;
  say(
    `sluice: an unfinished run is in ${stateDir}, of which ${email} email and ${phone} phone credits are launched: the same command goes on with it`,
  );
}
