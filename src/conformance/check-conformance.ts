import { ApiError } from '../platform/errors/errors.js';
import { SluiceError } from '../platform/errors/sluice-error.js';
import { optionName } from '../platform/text/option-name.js';
import type { Clause, Outcome } from './clause.js';
import { Deviation, NotReached } from './shapes.js';
import { allClauses } from './clauses/all-clauses.js';
import { createExchange } from './exchange.js';
import { sectionOf } from './sections.js';
import { Subject } from './subject.js';

export interface ConformanceOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /**
   * Whether credits may be spent: at most nine email and two phone credits.
   *
   * @default false
   */
  readonly spend?: boolean;
  /**
   * How long a batch may take from one state to the next, in milliseconds.
   *
   * @default 600000
   */
  readonly patienceMs?: number;
  /** Told of each clause when its outcome is known. */
  readonly onClause?: (checked: CheckedClause) => void;
  readonly signal?: AbortSignal;
}

/** A clause of the specification, and what became of it. */
interface CheckedClause {
  readonly clause: string;
  /** Where the specification has it: a page of the package, and an anchor in it. */
  readonly section: string;
  readonly says: string;
  readonly outcome: Outcome;
  /** Why it fails, was not reached, or cannot be observed. */
  readonly note: string | null;
}

export interface ConformanceReport {
  /** No clause fails. */
  readonly conforms: boolean;
  /** Every clause, in the specification's order. */
  readonly clauses: readonly CheckedClause[];
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Batches that were made and could not be deleted. */
  readonly batchesLeft: readonly string[];
}

/**
 * Holds a service to the specification, clause by clause. Without `spend` it reads, uploads and
 * deletes, and launches nothing. Batches that it makes are deleted at the end.
 *
 * @throws TransportError `connection_failed` when there is no service, ApiError `unauthorized` or
 *   `forbidden` when it does not take the key; the signal's reason
 */
export async function checkConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { spend = false, patienceMs = 600_000, onClause } = options;
  const signal = options.signal ?? new AbortController().signal;
  const exchange = createExchange({ ...options, signal });
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

/** Without a key that is taken, every clause would fail for one reason. */
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
    // An answer that never came is one that the specification does not have.
    if (error instanceof SluiceError) return outcomeIs('fails', error.message);
    throw error;
  }
}

/** The outcome of a clause that is held by others: the worst of theirs. */
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

/**
 * What the table has for one clause: its line, below the place of its section where that begins.
 *
 * @param before the section of the line before
 */
export function conformanceLines(checked: CheckedClause, before?: string): string {
  const line = `${conformanceLine(checked)}\n`;
  if (checked.section === before) return line;
  return `${before === undefined ? '' : '\n'}${checked.section}\n${line}`;
}

/** A line of the table for one clause. */
function conformanceLine({ clause, says, outcome, note }: CheckedClause): string {
  const why = note === null ? '' : ` (${note})`;
  return `${words[outcome].padEnd(15)} ${clause.padEnd(36)} ${says}${why}`;
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
