import { ApiError } from '../platform/errors/service-errors.js';
import { SluiceError } from '../platform/errors/sluice-error.js';
import { optionName } from '../platform/text/sentence.js';
import type { Clause, Outcome } from './clause.js';
import { Subject } from './subject.js';
import { Deviation, NotReached } from './expected.js';
import { createExchange } from './exchange.js';
import { section1 } from './clauses/section-1.js';
import { section2Bodies } from './clauses/section-2-bodies.js';
import { section2Forms, section2Parameters } from './clauses/section-2-requests.js';
import { section3 } from './clauses/section-3.js';
import { section4 } from './clauses/section-4.js';
import { sections5To9 } from './clauses/sections-5-to-9.js';

export interface ConformanceOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Whether credits may be spent: at most nine email and two phone credits. @default false */
  readonly spend?: boolean;
  /** How long a batch may take from one state to the next, in milliseconds. @default 600000 */
  readonly patienceMs?: number;
  readonly onClause?: (checked: CheckedClause) => void;
  readonly signal?: AbortSignal;
}

interface CheckedClause {
  readonly clause: string;
  /** Where the specification has it: a page of the package with an anchor. */
  readonly section: string;
  readonly says: string;
  readonly outcome: Outcome;
  /** Why it fails, was not reached, or cannot be observed. */
  readonly note: string | null;
}

export interface ConformanceReport {
  readonly conforms: boolean;
  /** Every clause, in the specification's order. */
  readonly clauses: readonly CheckedClause[];
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Batches that were made and not deleted. */
  readonly batchesLeft: readonly string[];
}

/**
 * Checks a service against the specification (docs/reference/service-interface.md), clause by clause.
 * Independent of `src/contract`, so that a misreading cannot pass twice. Without `spend` it reads, uploads and
 * deletes, and launches nothing. Deletes the batches that it made.
 */
export async function checkConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { spend = false, patienceMs = 600_000, onClause } = options;
  const signal = options.signal ?? new AbortController().signal;
  const exchange = createExchange(options.baseUrl, options.apiKey, signal);
  const subject = new Subject({ exchange, patienceMs, signal });
  await expectKey(subject);
  const checked = new Map<string, CheckedClause>();
  let batchesLeft: readonly string[] = [];
  try {
    for (const clause of allClauses) {
      const result = await check(clause, { subject, spend, checked });
      signal.throwIfAborted();
      checked.set(clause.id, result);
      onClause?.(result);
    }
  } finally {
    if (!signal.aborted) batchesLeft = await subject.cleanUp();
  }
  const clauses = [...checked.values()];
  const outcomes = {
    holds: 0,
    fails: 0,
    needs_spend: 0,
    not_reached: 0,
    not_observable: 0,
    not_shown: 0,
  };
  for (const { outcome } of clauses) outcomes[outcome] += 1;
  return { conforms: outcomes.fails === 0, clauses, outcomes, batchesLeft };
}

/** With a refused key every clause would fail for the same reason. */
async function expectKey(subject: Subject): Promise<void> {
  const { status } = await subject.ask('GET', '/v1/account/credits');
  if (status !== 401 && status !== 403) return;
  throw new ApiError(`the service does not take the key: status ${status}`, {
    code: status === 401 ? 'unauthorized' : 'forbidden',
    operation: 'credits',
    status,
  });
}

async function check(
  clause: Clause,
  context: {
    readonly subject: Subject;
    readonly spend: boolean;
    readonly checked: ReadonlyMap<string, CheckedClause>;
  },
): Promise<CheckedClause> {
  const { id, says } = clause;
  const outcomeIs = (outcome: Outcome, note: string | null = null): CheckedClause => ({
    clause: id,
    section: sectionOf(id),
    says,
    outcome,
    note,
  });
  if ('notShown' in clause) return outcomeIs('not_shown');
  if ('notObservable' in clause) return outcomeIs('not_observable', clause.notObservable);
  if ('sameAs' in clause) {
    const [outcome, note] = together(clause.sameAs, context.checked);
    return outcomeIs(outcome, note);
  }
  if (clause.need === 'spend' && !context.spend) return outcomeIs('needs_spend');
  try {
    await clause.check(context.subject);
    return outcomeIs('holds');
  } catch (error) {
    if (error instanceof NotReached) return outcomeIs('not_reached', error.message);
    if (error instanceof Deviation) return outcomeIs('fails', error.message);
    // A missing answer deviates from the specification.
    if (error instanceof SluiceError) return outcomeIs('fails', error.message);
    throw error;
  }
}

/** The outcome of a clause checked through others: the worst of theirs. */
function together(
  ids: readonly string[],
  checked: ReadonlyMap<string, CheckedClause>,
): readonly [Outcome, string] {
  const worstFirst: readonly Outcome[] = ['fails', 'not_reached', 'needs_spend', 'holds'];
  const outcomes = ids.map((id) => checked.get(id)?.outcome);
  const outcome = worstFirst.find((candidate) => outcomes.includes(candidate));
  if (outcome === undefined) throw new Error(`no clause ${ids.join(', ')} comes before this one`);
  return [outcome, `as ${ids.join(', ')}`];
}

const words: Readonly<Record<Outcome, string>> = {
  holds: 'holds',
  fails: 'FAILS',
  needs_spend: 'not asked: it costs',
  not_reached: 'not reached',
  not_observable: 'not observable',
  not_shown: 'open',
};

/** What the outcomes mean, as the last lines of the table say it. */
const sums = (): readonly (readonly [Outcome, string])[] => [
  ['holds', 'hold'],
  ['fails', 'fail'],
  ['needs_spend', `not asked, because they cost credits (${optionName('spend')})`],
  ['not_reached', 'not reached: the occasion did not come'],
  ['not_observable', 'cannot be observed from outside'],
  ['not_shown', 'left open by the specification'],
];

/** The table's lines for one clause, headed where its section is new. @param before the section of the previous line */
export function conformanceLines(checked: CheckedClause, before?: string): string {
  const { section, clause, says, outcome, note } = checked;
  const why = note === null ? '' : ` (${note})`;
  const line = `${words[outcome].padEnd(15)} ${clause.padEnd(36)} ${says}${why}\n`;
  if (section === before) return line;
  return `${before === undefined ? '' : '\n'}${section}\n${line}`;
}

/** The last lines of the table: how many clauses came out how. */
export function conformanceSums({ clauses, outcomes, batchesLeft }: ConformanceReport): string {
  const lines = sums().map(
    ([outcome, text]) => `${String(outcomes[outcome]).padStart(5)}  ${text}`,
  );
  const left =
    batchesLeft.length === 0 ? [] : ['', `batches that were left: ${batchesLeft.join(', ')}`];
  return ['', `${clauses.length} clauses`, ...lines, ...left, ''].join('\n');
}

const page = 'docs/reference/service-interface.md';

/** The anchors of its sections, by their numbers. */
const anchors: Readonly<Record<string, string>> = {
  '1': '1-what-the-service-does',
  '2.1': '21-credit-balance',
  '2.2': '22-batch-summary',
  '2.3': '23-batch-parameters',
  '2.4': '24-enumerations',
  '2.5': '25-batch-status-answer',
  '2.6': '26-batch-details',
  '2.7': '27-result-records',
  '2.8': '28-costs-and-counts',
  '2.9': '29-forms-and-other-answers',
  '3': '3-states-of-a-batch',
  '4': '4-operations',
  '5': '5-authentication',
  '6': '6-events',
  '7': '7-errors',
  '8': '8-limits',
  '9': '9-versions',
};

export function sectionOf(clause: string): string {
  const [number = '', whole = ''] = /^(\d)(?:\.\d+)?/.exec(clause) ?? [];
  const anchor = anchors[number] ?? anchors[whole];
  if (anchor === undefined) throw new Error(`the specification has no section of clause ${clause}`);
  return `${page}#${anchor}`;
}

/** Every clause of the specification (interface version 1.0.0), in its order. */
export const allClauses: readonly Clause[] = [
  ...section1,
  ...section2Bodies.filter(({ id }) => id < '2.3'),
  ...section2Parameters,
  ...section2Bodies.filter(({ id }) => id > '2.3'),
  ...section2Forms,
  ...section3,
  ...section4,
  ...sections5To9,
];
