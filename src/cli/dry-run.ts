import { estimateRun, readRunStatus, type Estimate, type TypeEstimate } from '../index.js';
import { connect } from './connect.js';
import { describePrice } from './launch-options.js';
import { say } from './print.js';
import { describeLostDigits } from './run-lines.js';
import type { Job } from './run-list.js';

const mostExamples = 5;
const mostCharacters = 60;

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
        examples.set(`${quote(column)}: ${quote(cell)}`, quote(submitted));
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

/** A text from the input as a terminal can show it, and so that nothing in it is overlooked. */
function quote(text: string): string {
  const characters = Array.from(text);
  const isLong = characters.length > mostCharacters;
  const shown = isLong ? `${characters.slice(0, mostCharacters).join('')}…` : text;
  return JSON.stringify(shown).replaceAll(/[\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
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
  const lost = type.not_submitted.scientific_notation ?? 0;
  const reasons = Object.entries(type.not_submitted).map(([reason, count]) => `${count} ${reason}`);
  const lanes = type.lanes.map(
    ({ country, addresses, batches }) => `${country} ${batches} (${addresses} addresses)`,
  );
  return [
    `${name}: ${type.addresses} addresses (${type.duplicates} duplicates), ${type.from_history} of them in the history`,
    ...(reasons.length > 0 ? [`${name}: cells that cannot be sent: ${reasons.join(', ')}`] : []),
    ...(lost > 0 ? [describeLostDigits(lost)] : []),
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
    `sluice: an unfinished run is in ${stateDir}, of which ${email} email and ${phone} phone credits are launched: the same command resumes it`,
  );
}
