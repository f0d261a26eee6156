import {
  optionName,
  codedSentence,
  defineSentence as define,
  orNull,
  type ReadOnly,
  type SentenceDefinition,
} from '../../platform/text/sentence.js';
import { counted, describeCredits, grouped } from '../../platform/text/shown-numbers.js';
import { percent } from './list-sentences.js';

const credits = { email: 240_000, phone: 3000 };
const noCredits = { email: 0, phone: 0 };
const paid = { launched: credits, doubtful: noCredits };
const retry = { exports: 0, addresses: 40, paid_twice: 0 };

function higherBudget(enough: number | null): string {
  const number = enough === null ? '' : ` (${grouped(enough)} is enough)`;
  return `with a higher ${optionName('maxCredits')}${number}`;
}

/** What is needed before the same command can continue. */
const conditions = {
  right_list: () => 'once the list is right, or with the option that the message names',
  accepted_key: () => 'once the key is accepted',
  fixed: () => 'once that is fixed',
  working_service: () => 'once it works again',
  processes_looked_at: () => "once the processes' logs and memory are looked at",
  higher_budget: higherBudget,
  budget_for_a_batch: (enough) =>
    `with a ${optionName('batchSize')} that ${optionName('maxCredits')} allows, or ${higherBudget(enough)}`,
  more_credits: () => 'once the account has credits',
} satisfies Record<string, (enough: number | null) => string>;
export type Condition = keyof typeof conditions;

/** A run's status, its end, and what to do next, by code. */
export const runSentences = {
  // Its status
  status_unread: define({
    when: 'The list was not read to its end.',
    example: paid,
    variants: [{ launched: noCredits }],
    sentence: (cost) => `the input was not read to its end, ${paidWords(cost)}`,
  }),
  status_underway: define({
    when: 'Batches are planned, and the output is not written. `launching`: whose launch a process awaits; `in_doubt`: of which it is unknown whether they were launched.',
    example: {
      done: 1006,
      batches: 2018,
      verifying: 2,
      verified: 0,
      launching: 0,
      in_doubt: 0,
      ...paid,
    },
    variants: [
      { verifying: 0, verified: 6 },
      { verifying: 1, in_doubt: 1, doubtful: { email: 10_000, phone: 0 } },
      { verifying: 1, launching: 1 },
      { done: 0, verifying: 0, launched: noCredits },
    ],
    sentence: ({ done, batches, verifying, verified, launching, in_doubt: inDoubt, ...cost }) =>
      [
        `${grouped(done)} of ${counted(batches, 'batch')} done`,
        ...(verifying > 0 ? [`${grouped(verifying)} being verified`] : []),
        ...(verified > 0 ? [`${grouped(verified)} verified, results to be fetched`] : []),
        ...(launching > 0 ? [`${grouped(launching)} being launched`] : []),
        ...(inDoubt > 0 ? [`${grouped(inDoubt)} perhaps launched`] : []),
        paidWords(cost),
      ].join(', '),
  }),
  status_written: define({
    when: 'The output is written.',
    example: paid,
    sentence: (cost) => `the output is written, ${paidWords(cost)}`,
  }),

  // What the same command then does
  starts_over: define({
    when: 'Nothing is known that a run could go on with.',
    example: {},
    sentence: () => 'starts over',
  }),
  resumes: define({
    when: 'The run is in a store that cannot be read.',
    example: { store: 'the run nightly' },
    sentence: ({ store }) => `resumes ${store}, or starts it`,
  }),
  goes_on: define({
    when: 'A run is unfinished. `condition`: the credits that it lacks; `enough`: the `--max-credits` that is enough for all of it.',
    example: {
      paid_batches: 2,
      in_doubt: 0,
      waiting: 10,
      open_credits: credits,
      condition: orNull<Condition>('higher_budget'),
      enough: orNull(480_000),
    },
    variants: [
      { condition: null },
      { condition: 'more_credits' },
      { condition: 'budget_for_a_batch', paid_batches: 0 },
      { paid_batches: 1, in_doubt: 1, waiting: 0, condition: null },
      { paid_batches: 0, waiting: 0, condition: null },
    ],
    sentence({
      paid_batches: paidBatches,
      in_doubt: inDoubt,
      waiting,
      open_credits: open,
      ...lacks
    }) {
      const price = describeCredits(open) ?? '0 credits';
      const steps = [
        ['goes on', ...conditionOf(lacks)].join(' '),
        ...(paidBatches > 0
          ? [`fetches the results of ${counted(paidBatches, 'paid batch')}`]
          : []),
        ...(inDoubt > 0
          ? [
              `asks what came of ${counted(inDoubt, 'launch')} (repeated if ${inDoubt === 1 ? 'it was' : 'they were'} not carried out)`,
            ]
          : []),
        ...(waiting > 0 ? [`verifies ${counted(waiting, 'more batch')} (at most ${price})`] : []),
      ];
      if (steps.length === 1) steps.push('writes the output');
      return `${steps.slice(0, -1).join(', ')} and ${steps.at(-1)}`;
    },
  }),
  reports: define({
    when: 'A run has written its output, and its end was not reported.',
    example: {},
    sentence: () => 'reports what the run came to, and pays nothing',
  }),
  retries: define({
    when: 'A run has finished, and some of it failed.',
    example: retry,
    variants: [{ exports: 2 }, { paid_twice: 20 }, { addresses: 0 }],
    // Starting over does not drop paid results.
    sentence: (failed) =>
      `${failed.exports > 0 ? '' : `starts over, and pays again for all that no ${optionName('history')} keeps, or `}with ${optionName('retryFailed')} ${retryWords(failed)}`,
  }),

  // How it ended
  suspect: define({
    when: 'Too many verdicts are unknown: `types` has those with more than `max_unknown` percent.',
    example: {
      output: 'out.csv.suspect',
      max_unknown: 20,
      types: [{ type: 'email', unknown: 96, verified: 390 }],
    },
    sentence({ output, max_unknown: most, types }) {
      const shares = types.map(
        ({ type, unknown, verified }) =>
          `${grouped(unknown)} of ${counted(verified, `verified ${type}`)} (${percent(unknown / verified)})`,
      );
      return `${shares.join(' and ')} are unknown, and ${optionName('maxUnknown')} allows ${most} %: the rows are in ${output}, not in the output`;
    },
  }),
  not_finished: define({
    when: 'Addresses are not finished.',
    example: {},
    sentence: () => 'the output is written, but some addresses are not finished',
  }),
  rows_failed: define({
    when: 'Addresses have failed.',
    example: {},
    sentence: () => 'the output is written, but some rows failed',
  }),

  // What to do after a stop
  wait_for_lock: define({
    when: 'Another process has the state directory.',
    example: {},
    sentence: () =>
      `run again when the other process is done, or wait for it with ${optionName('waitLockMs')}: if it has finished its run, the new one pays for the list again, unless both have ${optionName('history')}`,
  }),
  check_list: define({
    when: 'The list has lost too many rows.',
    example: {},
    sentence: () => 'check what makes the list, then run again',
  }),
  change_command: define({
    when: 'Something is wrong with the command.',
    example: {},
    sentence: () => 'change what the message names, then run again',
  }),
  repeat: define({
    when: 'Anything else stopped it. `next`: what the same command does; `enough`: the `--max-credits` that is enough for all of it.',
    example: {
      condition: orNull<Condition>('fixed'),
      enough: orNull(480_000),
      next: 'starts over',
    },
    variants: [
      { condition: 'higher_budget', enough: null },
      { condition: null },
      ...(Object.keys(conditions) as Condition[]).map((condition) => ({ condition })),
    ],
    sentence({ next, ...needs }) {
      // Another option makes it another command.
      const same = needs.condition === 'right_list' ? '' : 'same ';
      const again = `run the ${same}command again: it ${next}`;
      return [...conditionOf(needs), again].join(', ');
    },
  }),

  // What to do about an error, after its message
  give_key: define({
    when: 'The key is refused.',
    example: {},
    sentence: () =>
      `give the key of an account of this service (SLUICE_API_KEY or ${optionName('apiKeyFile')})`,
  }),
  add_credits: define({
    when: 'The account has too few credits.',
    example: {},
    sentence: () => 'add credits to the account, then run again',
  }),
};

type RunSentenceCode = keyof typeof runSentences;
type FieldsOf<Code extends RunSentenceCode> =
  (typeof runSentences)[Code] extends SentenceDefinition<infer Fields> ? ReadOnly<Fields> : never;
export type RunSentence = ReturnType<typeof runSentence>;

export function runSentence<Code extends RunSentenceCode>(code: Code, fields: FieldsOf<Code>) {
  return codedSentence(code, runSentences[code] as SentenceDefinition<unknown>, fields);
}

/** @returns `undefined` where the credits did not stop it */
export function conditionOfCredits(reason: string | null | undefined): Condition | undefined {
  if (reason === 'budget_exhausted') return 'higher_budget';
  return reason === 'payment_required' ? 'more_credits' : undefined;
}

export function conditionWords(condition: Condition, enough: number | null = null): string {
  return conditions[condition](enough);
}

function conditionOf({
  condition,
  enough,
}: {
  readonly condition: Condition | null;
  readonly enough: number | null;
}): readonly string[] {
  return condition === null ? [] : [conditionWords(condition, enough)];
}

/** What a retry does: `fetches 3 paid exports again (free), sends 40 addresses again`. */
export function retryWords({ exports, addresses, paid_twice: paidTwice }: typeof retry): string {
  const which = paidTwice === addresses ? (addresses === 1 ? 'it' : 'they') : grouped(paidTwice);
  const twice = paidTwice > 0 ? ` (${which} failed after the payment, and may be paid twice)` : '';
  const parts = [
    ...(exports > 0 ? [`fetches ${counted(exports, 'paid export')} again (free)`] : []),
    ...(addresses > 0 ? [`sends ${counted(addresses, 'address')} again${twice}`] : []),
  ];
  return parts.length === 0 ? 'sends again only what failed' : parts.join(', ');
}

function paidWords({ launched, doubtful }: ReadOnly<typeof paid>): string {
  const spent = describeCredits({
    email: launched.email - doubtful.email,
    phone: launched.phone - doubtful.phone,
  });
  const unknown = describeCredits(doubtful);
  // Launches may be partly refunded.
  const sure = spent === undefined ? 'no credits spent' : `at most ${spent} spent`;
  return unknown === undefined ? sure : `${sure}, up to ${unknown} in doubt`;
}
