import { inputNotices, outputNotices } from './list-notices.js';
import {
  optionName,
  defineSentence as define,
  codedSentence,
  oneOf,
  orNull,
  type ReadOnly,
  type SentenceDefinition,
} from './sentence.js';
import { counted, grouped, startText } from './shown-numbers.js';

/** What a run waits for, does unexpectedly, or cannot know. */
export interface Notice {
  /** Its code in docs/reference/events.md: the words may change. `null` for a source's or sink's own text. */
  readonly code: string | null;
  /** The values in the sentence. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /** Whether it needs attention. @default false */
  readonly isWarning?: boolean;
}

/** Receives a notice, or the sentence of a source or sink without a code. */
export type OnNotice = (notice: Notice | string) => void;

/** Every notice of a run, by code. */
export const notices = {
  ...inputNotices,

  list_suspect: define({
    when: '`--dry-run`: the list has too few rows for `--min-rows` or `--max-shrink`. `why`: which of them, and what it is compared with.',
    isWarning: true,
    example: { rows: 3, why: 'it has to have 10' },
    variants: [{ rows: 1 }],
    sentence: ({ rows, why }) =>
      `the list has ${counted(rows, 'row')}, and ${why}: the run would send nothing and end with exit code 8`,
  }),

  // Credits
  emails_of_countries: define({
    when: 'Emails are in rows of several countries: each is paid for once in each of them. Of over 16,384 emails an even sample is counted. `country`: the one of most emails.',
    example: { emails: 20, country: 'US' },
    variants: [{ emails: 1 }],
    sentence: ({ emails, country }) =>
      `${counted(emails, 'email')} ${emails === 1 ? 'is' : 'are'} in rows of several countries, and paid for once in each: ${optionName('emailCountry', country)} verifies all emails for one country, and pays for each once`,
  }),
  budget_short: define({
    when: '`--max-credits` is too low for all batches of a type. `used`: what launched batches of a resumed run have cost, or may cost at most; `smallest`, `largest`: what the smallest and the largest of the others need.',
    example: {
      type: 'email',
      needed: 250,
      allowed: 20,
      used: 0,
      smallest: 100,
      largest: 150,
      exit_code: 5,
    },
    variants: [
      { smallest: 10 },
      { smallest: 10, largest: 20 },
      { used: 10 },
      { used: 10, smallest: 10, exit_code: 3 },
    ],
    sentence({ type, needed, allowed, used, smallest, largest, exit_code: code }) {
      const left = Math.max(0, allowed - used);
      if (used > 0) {
        const stops =
          smallest > left
            ? `not even the smallest batch, of ${grouped(smallest)}, fits, so the run may launch none of them and end with exit code ${code}`
            : `the run may stop before it is done, with exit code ${code}`;
        return `${counted(needed, `${type} credit`)} more ${needed === 1 ? 'is' : 'are'} needed at most, and ${grouped(used)} of the ${grouped(allowed)} that ${optionName('maxCredits')} allows are spent or reserved for launched batches: ${stops}; ${optionName('maxCredits', used + needed)} is enough`;
      }
      const outcome =
        smallest > allowed
          ? `not even the smallest batch, of ${grouped(smallest)}, fits; raise ${optionName('maxCredits')}${allowed > 0 ? ` or lower ${optionName('batchSize')}` : ''}`
          : largest > allowed
            ? `the largest batch, of ${grouped(largest)}, does not fit, so the run may launch nothing and end with exit code ${code}; a lower ${optionName('batchSize')} uses more of it`
            : `the run may stop before it is done, with exit code ${code}`;
      return `${counted(needed, `${type} credit`)} ${needed === 1 ? 'is' : 'are'} needed at most, and ${optionName('maxCredits')} allows ${grouped(allowed)}: ${outcome}`;
    },
  }),
  balance_short: define({
    when: 'The account has too few credits for all batches. `fits`: whether they are enough for one.',
    example: { types: [{ type: 'email', has: 120, needed: 250, fits: true }], exit_code: 5 },
    variants: [
      {
        types: [
          { type: 'email', has: 120, needed: 250, fits: true },
          { type: 'phone', has: 0, needed: 10, fits: false },
        ],
      },
    ],
    sentence({ types, exit_code: code }) {
      const counts = types.map(
        ({ type, has, needed }) =>
          `${counted(has, `${type} credit`)} of ${grouped(needed)} needed at most`,
      );
      const large = types.flatMap(({ type, fits }) => (fits ? [] : [`${type}s`]));
      const why =
        large.length === 0
          ? ''
          : `even the smallest batch of ${large.join(' and of ')} may need more, and `;
      return `the account has ${counts.join(' and ')}: ${why}the run may stop before it is done, with exit code ${code}; add credits, or lower ${optionName('batchSize')} to use more of what there is, as a batch is launched whole or not at all`;
    },
  }),
  balance_unknown: define({
    when: 'The service does not report the credits of the account.',
    isWarning: true,
    example: { why: 'HTTP 404' },
    sentence: ({ why }) =>
      `${balanceUnknown(why)}: they may be too few. A launch that they do not pay for stops the run with exit code 5`,
  }),
  balance_not_compared: define({
    when: '`--dry-run`: the service does not report the credits of the account.',
    example: { why: 'HTTP 404' },
    sentence: ({ why }) => balanceUnknown(why),
  }),
  store_unread: define({
    when: '`--dry-run`: the store of a shared run does not answer. The credits needed are those of the whole list.',
    isWarning: true,
    example: {
      name: 'run 2026-01-30 in postgres://db.example.com/jobs',
      why: 'connect ECONNREFUSED 127.0.0.1:5432',
    },
    sentence: ({ name, why }) =>
      `cannot read ${name}, so the credits needed are those of the whole list: ${why}`,
  }),
  launches_stopped: define({
    when: 'A launch was refused, or is beyond the budget, while other batches are verified. `type` is null where it stops all; `stopped_by` is the [error code](../when-it-stops.md#error-codes) of what stops them.',
    isWarning: true,
    example: {
      reason: 'the account has 814 email credits, this batch needs 1,246',
      stopped_by: 'payment_required',
      type: orNull('email'),
      running: 3,
    },
    variants: [{ type: null, running: 1 }, { stopped_by: 'budget_exhausted' }],
    // The figures of the budget are said before the run, and where it ends.
    sentence: ({ reason, stopped_by: stoppedBy, type, running }) =>
      `${stoppedBy === 'budget_exhausted' ? `${optionName('maxCredits')} is reached` : reason}: no more ${type === null ? '' : `${type} `}batches are launched, and ${counted(running, 'batch')} that ${running === 1 ? 'is' : 'are'} paid for ${running === 1 ? 'is' : 'are'} finished first`,
  }),
  max_credits_changed: define({
    when: 'This process changes the budget of all that share a run; `null` is none.',
    isWarning: true,
    example: { run: 'run 2026-01-30', most: orNull(100), before: orNull(20) },
    variants: [{ most: null }],
    sentence: ({ run, most, before }) =>
      `from now on all processes of ${run} together may use ${budgetWords(most)}, in place of ${budgetWords(before)}`,
  }),
  max_credits_changed_elsewhere: define({
    when: 'Another process has changed the budget of all that share the run; `null` is none.',
    isWarning: true,
    example: { most: orNull(100) },
    sentence: ({ most }) =>
      `another process was started with another ${optionName('maxCredits')}: all together may use ${budgetWords(most)}`,
  }),

  // The service
  unknown_status: define({
    when: 'The service calls a batch by a word that its specification does not have. Once a word.',
    isWarning: true,
    example: { batch: 'sluice-0123456789abcdef-0-1', status: 'queued' },
    sentence: ({ batch, status }) =>
      `batch ${batch} has the unknown status '${status}': waiting for one that Sluice knows, no longer than ${optionName('batchDeadlineMs')} allows`,
  }),
  odd_status: define({
    when: 'The status of a batch has a fact that cannot be right, and the run goes on without it. `fact`: `uuid`, `group` (type or country) or `lines` (their number) are not those of the upload; `cost` is more than a credit for each address, or contradicts itself. Once a fact.',
    isWarning: true,
    example: {
      batch: 'sluice-0123456789abcdef-0-1',
      fact: oneOf('uuid', 'group', 'lines', 'cost'),
    },
    variants: [{ fact: 'group' }, { fact: 'lines' }, { fact: 'cost' }],
    sentence: ({ batch, fact }) =>
      `batch ${batch}: ${oddFacts[fact]}; ask the service's support about it`,
  }),
  upload_mixed_up: define({
    when: 'The service has answered an upload with the `batch_uuid` of another batch. That one is not launched: the upload is looked for by its name. For ten batches at most.',
    isWarning: true,
    example: {
      batch: 'sluice-0123456789abcdef-0-1',
      batch_uuid: '6f1c2b9e-4d3a-4f7b-8a55-0c9d1e2f3a4b',
    },
    sentence: ({ batch, batch_uuid }) =>
      `batch ${batch}: the service answered its upload with ${batch_uuid}, which is another batch; it is not launched, and the upload is looked for by its name. Report it to the service's support`,
  }),
  operation_error: define({
    when: 'The service has answered the preparation or the launch of a batch with `error` again. Once an operation.',
    isWarning: true,
    example: {
      batch: 'sluice-0123456789abcdef-0-1',
      operation: oneOf('prepareBatch', 'launchBatch'),
    },
    sentence: ({ batch, operation }) =>
      `batch ${batch}: the service answers 'error' to ${operation} again, and is asked for some minutes more`,
  }),
  upload_unlisted: define({
    when: 'The service has accepted an upload without a `batch_uuid`, and its list has no batch of that name, which is looked for again. Once.',
    isWarning: true,
    example: { batch: 'sluice-0123456789abcdef-0-1' },
    sentence: ({ batch }) =>
      `batch ${batch}: its upload was accepted without a batch_uuid, and the list of batches does not have this name: looking again for some minutes`,
  }),
  odd_export: define({
    when: 'An export counts for nothing, at least in part, and is asked for again. `fault`: `valid`, `wrong` or `unknown` has no true or false in a record; `addresses`, no address of the batch is a key; `json`, it cannot be read, where there is no run to resume. Once a fault.',
    isWarning: true,
    example: {
      batch: 'sluice-0123456789abcdef-0-1',
      fault: oneOf('valid', 'wrong', 'unknown', 'addresses', 'json'),
    },
    variants: [{ fault: 'addresses' }, { fault: 'json' }],
    sentence: ({ batch, fault }) =>
      `batch ${batch}: its export is asked for again, because ${faultOfExport(fault)}`,
  }),

  // What earlier runs have left
  history_in_use: define({
    when: 'Another process uses the history: the run waits for it.',
    example: {},
    sentence: () => 'another process uses the history: waiting for it',
  }),
  history_ahead: define({
    when: 'The history has results of the days to come, by the clock of this machine: they are not used.',
    isWarning: true,
    example: { latest: '2026-11-28', now: '2025-11-28' },
    sentence: ({ latest, now }) =>
      `the history has results of ${latest}, and by the clock of this machine it is ${now}: results of the days to come are not used, and are paid for again; check the clock`,
  }),
  history_lost: define({
    when: 'The key of the history is there, and nothing of the history itself: it begins again.',
    isWarning: true,
    example: { history: 'nightly.history' },
    sentence: ({ history }) =>
      `the history ${history} is missing or empty, though its key is there: it begins again, and what it held is paid for again unless a copy of it is put back`,
  }),
  paid_again: define({
    when: '`run()` begins a new run where its output has rows already: a finished call that is repeated pays for all addresses again. Not for an `s3:` output, nor where a history has some of them.',
    isWarning: true,
    example: { output: 'verified.csv', addresses: 250 },
    variants: [{ addresses: 1 }],
    sentence: ({ output, addresses }) =>
      `${output} is there already, and this is a new run: it pays for ${addresses === 1 ? 'its 1 address' : `all ${counted(addresses, 'address')}`}, also those that are paid already; with ${optionName('history')} in both runs, it pays only for what is new`,
  }),
  history_left_out: define({
    when: 'The run began with a history, and is resumed or joined without one.',
    isWarning: true,
    example: { history: 'nightly.history' },
    sentence: ({ history }) =>
      `the run began with the history ${history}, and this process works without it: if it ends the run, the next run pays for its addresses again; to prevent that, stop it and add ${optionName('history')} ${history}`,
  }),
  options_left_out: define({
    when: 'The run began with options that leave addresses or rows out (`--suppress`, `--keep`, `--keep-quality`, `--unique`, `--rejects`), and is resumed without them.',
    isWarning: true,
    example: { options: ['keep', 'rejects'] as readonly string[] },
    variants: [{ options: ['suppress'] }],
    sentence: ({ options }) =>
      `the run began with ${options.map((option) => optionName(option)).join(', ')} and is resumed without: what ${options.length === 1 ? 'this option' : 'these options'} would leave out is no longer left out; to keep it out, stop this run and add ${options.length === 1 ? 'it' : 'them'} again`,
  }),
  history_cut: define({
    when: 'The last write to the history was cut off, as by a power cut: all before it counts.',
    isWarning: true,
    example: { history: 'nightly.history', bytes: 1234 },
    sentence: ({ history, bytes }) =>
      `the last ${counted(bytes, 'byte')} of the history ${history} were cut off, as by a power cut or a full disk: all before is used. What an unfinished run has fetched comes again from its own state; only results that nothing else has are paid for again, unless a copy of the history is put back`,
  }),
  launched_left: define({
    when: 'An earlier stream with this history has launched batches and left them.',
    example: { batches: 3 },
    sentence: ({ batches }) =>
      `waiting for the results of ${counted(batches, 'batch')} that an earlier stream launched: they are paid for, and used from the history`,
  }),
  launched_elsewhere: define({
    when: 'A run of another list with this history has stopped, or was left, after it had launched some of these addresses.',
    example: { runs: ['leads.csv.sluice'] as readonly string[], addresses: 30 },
    sentence: ({ runs, addresses }) =>
      `${counted(addresses, 'address')} of this list ${addresses === 1 ? 'was' : 'were'} launched by a run that is not finished (${runs.join(', ')}): the results are waited for, and used from the history, because they are paid for`,
  }),
  launched_elsewhere_lost: define({
    when: 'What that run has launched failed, is gone from the service, or takes longer than `--batch-deadline` (`why`): this run pays for these addresses, too.',
    isWarning: true,
    example: {
      runs: ['leads.csv.sluice'] as readonly string[],
      addresses: 30,
      why: oneOf('failed', 'gone', 'late'),
    },
    variants: [{ why: 'gone' }, { why: 'late' }],
    sentence: ({ runs, addresses, why }) =>
      `what the run in ${runs.join(', ')} has launched ${whyLost[why]}: this run pays for ${counted(addresses, 'address')} of it again, at most`,
  }),
  paid_since: define({
    when: 'Since this run stopped, another with its history has paid for some of its addresses.',
    example: { addresses: 30 },
    sentence: ({ addresses }) =>
      `another run with this history has paid for ${counted(addresses, 'address')} of this list since it stopped: this run does not send ${addresses === 1 ? 'it' : 'them'}`,
  }),
  run_replaced: define({
    when: 'Another run has taken the place of the shared run that this process was about to resume, which had stopped: without what others with its history have paid for since. What it has paid counts for `--max-credits`.',
    example: { run: 'run 2026-01-30 in postgres://db.example.com/jobs' },
    sentence: ({ run }) =>
      `${run} begins again without what another run with this history has paid for since it stopped; what it has paid for itself is used, and counts for its budget`,
  }),
  results_owed: define({
    when: 'Results of the run before are paid for and could not be read: they are asked for again.',
    isWarning: true,
    example: { batches: 3, started_at: '2026-01-30T22:15:00.000Z' },
    sentence: ({ batches, started_at: startedAt }) =>
      `the results of ${counted(batches, 'paid batch')} of the run of ${startText(startedAt)} could not be read: asking for them again, which is free`,
  }),

  ...outputNotices,
};

type NoticeCode = keyof typeof notices;
type FieldsOf<Code extends NoticeCode> =
  (typeof notices)[Code] extends SentenceDefinition<infer Fields> ? ReadOnly<Fields> : never;

export function notice<Code extends NoticeCode>(code: Code, fields: FieldsOf<Code>): Notice {
  const definition = notices[code] as SentenceDefinition<unknown>;
  const { isWarning } = definition;
  return { ...codedSentence(code, definition, fields), ...(isWarning && { isWarning }) };
}

/** A notice in either form. */
export function noticeOf(given: Notice | string): Notice {
  return typeof given === 'string' ? { code: null, fields: {}, message: given } : given;
}

/** Why an export counts for nothing, as words after "because". */
export function faultOfExport(fault: string): string {
  return exportFaults[fault] ?? `a record has no true or false in '${fault}', so it counts as none`;
}

const exportFaults: Readonly<Record<string, string>> = {
  addresses: 'it has no record under an address as its key',
  json: 'it is not a whole JSON object with addresses as its keys',
};

const oddFacts = {
  uuid: 'its status has the batch_uuid of another batch',
  group: 'its status has another type or country than the upload',
  lines: 'its status counts more or fewer lines than the upload has',
  cost: 'its cost is more than a credit for each address, or contradicts itself',
} as const;

const whyLost = {
  failed: 'failed',
  gone: 'is gone from the service',
  late: 'is not verified in time',
} as const;

function balanceUnknown(why: string): string {
  return `the service does not report the account's credits (${why})`;
}

function budgetWords(most: number | null): string {
  return most === null ? 'as many credits as it takes' : `${counted(most, 'credit')} of each type`;
}
