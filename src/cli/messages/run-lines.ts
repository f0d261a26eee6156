import type { Writable } from 'node:stream';
import {
  type RunEnd,
  type Summary,
  describeOutage,
  type Client,
  type ServiceOutage,
} from '../../index.js';
import {
  earlierCreditsSentence,
  counted,
  duration,
  grouped,
} from '../../platform/text/shown-numbers.js';
import { shareText } from './end-table.js';
import {
  fewerRowsSentence,
  oddSentence,
  percent,
  rowsSentence,
} from '../../report/sentences/list-sentences.js';
import { say } from '../terminal/print.js';

/** Something that happened: a text for people, the same as fields for a log. */
export interface Said {
  readonly event: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly line: string;
  /** Whether it is said even when quiet. */
  readonly isUrgent?: boolean;
  /** Whether somebody should look at it: it is said so, and even when quiet. */
  readonly isWarning?: boolean;
}

/** `contacts.csv: 281 rows, 65 % valid, 2 warnings`: all of a run in a line. */
export function verdictOf(summary: Summary, warnings: number): string {
  const { input, rows, suspect, columns } = summary;
  const types = (['email', 'phone'] as const).flatMap((type) => {
    const { verdicts, buckets } = summary[type] ?? {};
    const cells = Object.values(buckets ?? {}).reduce((sum, count) => sum + count, 0);
    return verdicts && cells > 0 ? [{ type, share: shareText(verdicts.valid, cells) }] : [];
  });
  const failed = columns.reduce((sum, { buckets }) => sum + buckets.failed, 0);
  const parts = [
    counted(rows, 'row'),
    ...types.map(({ type, share }) => `${types.length > 1 ? `${type}s ` : ''}${share} valid`),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
    ...(suspect ? ['suspect'] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return `${input}: ${parts.join(', ')}`;
}

interface EndLinesOptions {
  /** Whether a person reads it: with the time that it took, which a log has anyhow, and advice as a list. @default false */
  readonly isTerminal?: boolean;
  /** Whether the run had finished before, and this command did nothing. @default false */
  readonly isToldAgain?: boolean;
}

/** Where the rows are, and what to know or do next. */
export function endLinesOf(
  summary: Summary,
  { message, advice }: RunEnd,
  { isTerminal = false, isToldAgain = false }: EndLinesOptions = {},
): readonly Said[] {
  const time = isTerminal ? ` in ${duration(summary.seconds)}` : '';
  const wrote = `${rowsSentence(summary)}${time}`;
  const said: Said[] = [{ event: 'outputs', line: isToldAgain ? `that run ${wrote}` : wrote }];
  if (summary.skipped_updates) {
    const { changed, gone } = summary.skipped_updates;
    const line = `${counted(changed + gone, 'row')} got no result: ${grouped(changed)} changed and ${grouped(gone)} ${gone === 1 ? 'was' : 'were'} deleted while they were verified (--summary has their keys)`;
    said.push({ event: 'skipped_updates', line, isWarning: true });
  }
  if (summary.credits_before) {
    const line = earlierCreditsSentence(summary.credits_before);
    said.push({ event: 'credits_before', line });
  }
  if (message !== null) {
    said.push({ event: 'message', line: message, isWarning: true });
  }
  return [
    ...said,
    ...fewerRowsLines(summary, advice),
    ...advice
      .filter((line) => line !== fewerRowsSentence(summary, true))
      .map((line) => ({ event: 'next', line: isTerminal ? `- ${line}` : line })),
  ];
}

/** A list that has lost its rows: the output has lost them, too. */
export function fewerRowsLines(summary: Summary, advice: RunEnd['advice']): readonly Said[] {
  const text = fewerRowsSentence(summary, true);
  if (text === undefined || !advice.includes(text)) return [];
  const { rows, compared } = summary;
  const fields = { rows, previous: compared?.previous?.rows ?? null };
  return [{ event: 'fewer_rows', fields, line: text, isWarning: true }];
}

/** A trial's results are kept only if that is asked for before it. */
export function trialLines(
  { rows, limit, service }: Pick<Summary, 'rows' | 'limit' | 'service'>,
  hasHistory: boolean,
): readonly Said[] {
  if (limit === undefined || rows < limit || service === 'local' || hasHistory) return [];
  const line = `the first ${counted(limit, 'row')} only: with --history <file> in this command and in the one for all rows, these rows are paid for once, without it twice`;
  return [{ event: 'trial', fields: { rows, limit }, line }];
}

/** What a trial has left. */
export function limitLines(
  { rows, limit, service }: Pick<Summary, 'rows' | 'limit' | 'service'>,
  hasHistory: boolean,
): readonly Said[] {
  if (limit === undefined || rows < limit) return [];
  const again = hasHistory
    ? ' (what was verified now is not paid for again)'
    : service === 'local'
      ? ''
      : ' (no --history kept these results: they are paid for again)';
  const line = `the first ${counted(limit, 'row')} only; leave out --limit for the rest${again}`;
  return [{ event: 'limited', fields: { rows, limit }, line }];
}

/** What a run says of itself beside the one before. */
export function comparedLines(summary: Summary): readonly Said[] {
  const { compared } = summary;
  if (!compared?.previous) return [];
  const { previous } = compared;
  const parts = (['email', 'phone'] as const).flatMap((type) => {
    const [now, before] = [summary[type], previous[type]];
    if (!now || !before) return [];
    return [
      `${type}: ${change(now.addresses - before.addresses)}`,
      ...shareOfUnknown(now, before),
      `${grouped(now.addresses - now.from_history)} paid for (${grouped(before.addresses - before.from_history)} before)`,
    ].join(', ');
  });
  if (parts.length === 0) return [];
  const when = `${previous.finished_at.slice(0, 16).replace('T', ' ')} UTC`;
  return [{ event: 'compared', line: `compared with the run of ${when}: ${parts.join('; ')}` }];
}

/** What has moved oddly: somebody should look before the rows are used. */
export function oddLines({ compared }: Summary): readonly Said[] {
  return (compared?.odd ?? []).map((odd) => ({
    event: 'odd_share',
    isWarning: true,
    fields: { ...odd },
    line: `${oddSentence(odd)}; look at the list and at the service before you use the results`,
  }));
}

type Verified = Pick<NonNullable<Summary['email']>, 'verdicts'>;

/** Nothing has no share. */
function shareOfUnknown(now: Verified, before: Verified): readonly string[] {
  const [share, earlier] = [now, before].map(({ verdicts }) => {
    const verified = Object.values(verdicts).reduce((sum, count) => sum + count, 0);
    return verified === 0 ? undefined : percent(verdicts.unknown / verified);
  });
  if (share === undefined) return [];
  return [`${share} unknown${earlier === undefined ? '' : ` (${earlier} before)`}`];
}

function change(count: number): string {
  if (count === 0) return 'as many addresses';
  return counted(Math.abs(count), count > 0 ? 'more address' : 'fewer address');
}

/** What keeps the requests to a service waiting, and for how long it is tried again. */
export function troubleLine(client: Pick<Client, 'baseUrl'>, trouble: ServiceOutage): Said {
  const { host } = new URL(client.baseUrl);
  const forSeconds = Math.round(trouble.forMs / 1000);
  const { reason, line } = describeOutage(client, trouble);
  if (trouble.state === 'over') {
    return { event: 'service_back', fields: { host, after_seconds: forSeconds }, line };
  }
  const { leftMs } = trouble;
  const leftSeconds = leftMs === undefined ? null : Math.round(leftMs / 1000);
  return {
    event: 'service_waiting',
    fields: { host, reason, for_seconds: forSeconds, left_seconds: leftSeconds },
    line,
  };
}

/** For commands that say nothing else. */
export function sayTrouble(
  out: Writable,
): (client: Pick<Client, 'baseUrl'>, trouble: ServiceOutage) => void {
  return (client, trouble) => say(`sluice: ${troubleLine(client, trouble).line}`, out);
}
