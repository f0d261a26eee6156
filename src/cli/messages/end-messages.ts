import {
  type Advice,
  type Client,
  ConfigurationError,
  describeOutage,
  type FilePermissions,
  isSluiceError,
  type RunEnd,
  type RunStatus,
  type ServiceOutage,
  type SharedStore,
  type Summary,
} from '../../index.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import { timeOfRun } from '../../report/sentences/list-sentences.js';
import { cellsOfShares } from '../../report/sentences/reason-words.js';
import { message, type Message, type Severity } from './catalogue.js';
import { shareText } from './end-table.js';
import { statusFields } from './progress-messages.js';
import { exitCodeOf, exitCodes, Interruption } from '../process/exit-code.js';

/**
 * `contacts.csv: 281 rows, 66 % of 276 emails valid, 250 credits, 2 warnings`: all of a run in a line, which
 * may be the subject of a mail. What is wrong stands first.
 */
export function verdictOf(
  summary: Summary,
  exitCode: number,
  /** What people call them. */
  warnings: readonly string[],
  /** Whether the local service verified where nobody asked for it: a lost variable looks the same. */
  isUnmeant = false,
): string {
  const { input, output, rows, suspect, columns, service, credits } = summary;
  const { credits_before: earlier } = summary;
  const types = (['email', 'phone'] as const).flatMap((type) => {
    const tally = summary[type];
    // A second column that is seldom filled makes no list a bad one.
    const cells = tally ? cellsOfShares(tally) : 0;
    if (!tally || cells === 0) return [];
    const { valid } = tally.verdicts;
    const byForm = valid > 0 && tally.valid_by_form === valid ? ' by form' : '';
    return [`${shareText(valid, cells)} of ${counted(cells, type)} valid${byForm}`];
  });
  const failed = columns.reduce((sum, { buckets }) => sum + buckets.failed, 0);
  const suppressed = columns.reduce((sum, { reasons }) => sum + (reasons['suppressed'] ?? 0), 0);
  const nets = [credits.email, credits.phone].flatMap((each) => (each ? [each.net] : []));
  const isOver = summary.already_finished === true;
  const sum = nets.includes(null) ? null : nets.reduce<number>((sum, net) => sum + (net ?? 0), 0);
  // Another process has paid for what it tells again.
  const paid = isOver ? 0 : sum;
  const parts = [
    ...(isUnmeant ? ['verdicts made up by the local service'] : []),
    ...(suspect ? ['suspect'] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    counted(rows, 'row'),
    ...types,
    ...(suppressed > 0 ? [`${grouped(suppressed)} suppressed`] : []),
    ...(service === 'local' || paid === null
      ? []
      : [paid === 0 ? 'nothing paid' : counted(paid, 'credit')]),
    ...(service === 'local' || isOver || !earlier
      ? []
      : [`${counted(earlier.email + earlier.phone, 'credit')} by earlier runs`]),
    ...(warnings.length > 0 ? [warningsText(warnings)] : []),
  ];
  // A database does not say which of its lists it is.
  const list = output.endsWith(` in ${input}`) ? output : input;
  return `${list}: ${parts.join(', ')}`;
}

const mostNamed = 3;

/** `3 warnings (doubtful column, paid again)`. */
function warningsText(warnings: readonly string[]): string {
  const names = [...new Set(warnings)];
  const shown = names.slice(0, mostNamed).join(', ');
  return `${counted(warnings.length, 'warning')} (${shown}${names.length > mostNamed ? ', …' : ''})`;
}

/** @param isTerminal whether a person reads it: then with the duration, which a log has anyway */
export function endMessages(
  summary: Summary,
  { exit_code, reason, message: text }: RunEnd,
  advice: readonly Advice[],
  isTerminal = false,
): readonly Message[] {
  const { rows, outputs, rows_left_out, rows_repeated, left_out_by } = summary;
  const { skipped_updates, credits_before } = summary;
  const took = isTerminal ? timeOfRun(summary) : undefined;
  const alone = skipped_updates && { changed: skipped_updates.changed, gone: skipped_updates.gone };
  return [
    message('outputs', {
      rows,
      outputs,
      rows_left_out,
      rows_repeated,
      left_out_by,
      skipped_updates: alone,
      took,
      is_earlier: summary.already_finished === true,
    }),
    ...(alone ? [message('skipped_updates', alone)] : []),
    ...(credits_before ? [message('credits_before', credits_before)] : []),
    ...(text === null ? [] : [message('incomplete', { exit_code, reason, message: text })]),
    ...fewerRowsMessages(summary, advice),
    ...adviceMessages(advice),
  ];
}

/** What keeps the next run from paying again is shown also when quiet. */
export function adviceMessages(
  advice: readonly Advice[],
  severity: Severity = 'info',
): readonly Message[] {
  return advice
    .filter(({ code }) => code !== 'fewer_rows')
    .map(({ code, fields, message: text }) =>
      message(
        'next',
        { ...fields, code, message: text },
        code === 'retry_failed' ? 'notice' : severity,
      ),
    );
}

/** A list that has lost rows since the last run: the output has lost them, too. */
export function fewerRowsMessages(
  { rows, compared }: Summary,
  advice: readonly Advice[],
): readonly Message[] {
  const previous = compared?.previous?.rows ?? null;
  return advice.flatMap(({ code, message: text }) =>
    code === 'fewer_rows' ? [message('fewer_rows', { rows, previous, message: text })] : [],
  );
}

type Limited = Pick<Summary, 'rows' | 'limit' | 'service'>;

/** A trial's results are kept only with `--history`. */
export function trialMessages(
  { rows, limit, service }: Limited,
  hasHistory: boolean,
  severity: Severity = 'info',
): readonly Message[] {
  if (limit === undefined || rows < limit || service === 'local' || hasHistory) return [];
  return [message('trial', { rows, limit }, severity)];
}

export function limitMessages(
  { rows, limit, service }: Limited,
  hasHistory: boolean,
): readonly Message[] {
  if (limit === undefined || rows < limit) return [];
  const results = hasHistory ? 'kept' : service === 'local' ? 'free' : 'lost';
  return [message('limited', { rows, limit, results })];
}

export function comparedMessages(summary: Summary): readonly Message[] {
  const previous = summary.compared?.previous;
  if (!previous) return [];
  const types = (['email', 'phone'] as const).flatMap((type) => {
    const [now, before] = [summary[type], previous[type]];
    if (!now || !before) return [];
    return [
      {
        type,
        more_addresses: now.addresses - before.addresses,
        unknown: shareOfUnknown(now.verdicts),
        unknown_before: shareOfUnknown(before.verdicts),
        sent: now.addresses - now.from_history,
        sent_before: before.addresses - before.from_history,
      },
    ];
  });
  return types.length === 0
    ? []
    : [message('compared', { finished_at: previous.finished_at, types })];
}

/** A suppress list that leaves hardly an address may be the wrong one: this share, and of so many. */
const mostlySuppressed = { share: 0.9, leastCells: 20 };

/** What to check before the rows are used: unusual changes, and lists that are mostly suppressed. */
export function oddMessages(summary: Summary): readonly Message[] {
  return [
    ...(summary.compared?.odd ?? []).map((odd) => message('odd_share', { ...odd })),
    ...(['email', 'phone'] as const).flatMap((type) => {
      const tally = summary[type];
      const suppressed = tally?.reasons['suppressed'] ?? 0;
      const cells = tally ? cellsOfShares(tally) + suppressed : 0;
      return cells >= mostlySuppressed.leastCells && suppressed > cells * mostlySuppressed.share
        ? [message('mostly_suppressed', { type, suppressed, cells })]
        : [];
    }),
  ];
}

function shareOfUnknown(verdicts: NonNullable<Summary['email']>['verdicts']): number | null {
  const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
  return verified === 0 ? null : verdicts.unknown / verified;
}

/** What keeps the requests waiting, and how long they are retried. */
export function outageMessage(client: Client, outage: ServiceOutage): Message {
  const { host } = new URL(client.baseUrl);
  const forSeconds = Math.round(outage.forMs / 1000);
  const { reason, line } = describeOutage(client, outage);
  if (outage.state === 'over') {
    return message('service_back', { host, after_seconds: forSeconds, message: line });
  }
  const { leftMs } = outage;
  return message('service_waiting', {
    host,
    reason,
    for_seconds: forSeconds,
    left_seconds: leftMs === undefined ? null : Math.round(leftMs / 1000),
    message: line,
  });
}

/** @param status `undefined` where no state is kept */
export function stopMessages(
  error: unknown,
  status: RunStatus | undefined,
  next: string,
  { store, storeOptions, program }: Pick<RunContext, 'store' | 'storeOptions' | 'program'>,
): readonly Message[] {
  // Errors of commands and state directories say themselves what to do.
  if (exitCodeOf(error) === exitCodes.usage) {
    const isBesideOthers = isSluiceError(error, 'state_mismatch') && error.option === 'history';
    if (store && isBesideOthers) {
      const command = `${program} status ${storeOptions}`;
      return [message('command', { what: 'which processes are at work', command })];
    }
    return status && !store ? keptMessages(error, status) : [];
  }
  if (!status) {
    return store ? [message('resumable', { state: null, message: next })] : [];
  }
  const { stateDir: state, launchedCredits } = status;
  const is_paid = launchedCredits.email + launchedCredits.phone > 0;
  return [
    message('so_far', statusFields(status)),
    message('resumable', { state, message: next }),
    // A person who stops a run may be done with it; a shared run may go on elsewhere.
    ...(!store && error instanceof Interruption
      ? [message('hint', { state, program, is_paid })]
      : []),
    // A shared run has no folder with results.
    ...(store ? [] : keptMessages(error, status)),
  ];
}

/** An output that cannot be written does not block access to paid results: reported also with `--quiet`. */
function keptMessages(error: unknown, status: RunStatus): readonly Message[] {
  // A missing key is a usage error that the output is not to blame for.
  const isOutputs =
    isSluiceError(error, 'output_failed') ||
    (error instanceof ConfigurationError && error.option === 'sink');
  const { stateDir, launchedCredits, isFinished } = status;
  if (!isOutputs || isFinished || launchedCredits.email + launchedCredits.phone === 0) return [];
  return [message('results_kept', { state: stateDir })];
}

/** A failed streaming run loses what it paid, others may not: reported also with `--quiet`. */
export function paidInVainMessage(
  batches: number,
  { email: email_credits, phone: phone_credits }: RunStatus['launchedCredits'],
): Message {
  return message('paid_in_vain', { batches, email_credits, phone_credits });
}

/** What is learned about a run as it proceeds; incomplete where it stops. */
export interface RunFacts {
  /** Present for shared runs. */
  store?: SharedStore | undefined;
  /** Whether it has begun: before, it has nothing to lose. */
  isBegun?: boolean;
  /** Its service; the one of the run before, where it names none. */
  service?: string | undefined;
  /** Whether no state is kept. */
  isStreaming?: boolean;
  /** Whether the local service verifies. */
  isFree?: boolean;
  noMoreOpenThan?: FilePermissions | undefined;
}

export interface RunContext extends RunFacts {
  readonly input: string;
  /** What it is called in its last line. */
  readonly list: string;
  readonly output: string;
  /** The command that runs this program again. */
  readonly program: string;
  /** How its store was named, for a shell. */
  readonly storeOptions: string;
  readonly maxCredits: number | undefined;
  /** Its state directory, or where it would be. */
  readonly stateDir: string | undefined;
}
