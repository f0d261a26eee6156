import { type Asked, askedOptions, type Summary } from './summary.js';
import type { CreditBalance } from '../../contract/bodies.js';
import type { VerificationType } from '../../contract/enums.js';
import type { Sink } from '../../lists/rows/sink.js';
import { isAtEnd, mayHaveLaunched } from '../batches/batch-state.js';
import { addCharges, chargeOf, type DrivenBatch, nothing } from '../batches/batch-log.js';
import { isPlusMissing, misreadNumbers } from '../plan/column-quality.js';
import type { Plan } from '../plan/plan.js';
import type { MisspeltDomains, OutcomeTally } from './outcome-tally.js';
import type { RejectedCells } from './rejected-cells.js';
import {
  type BatchReport,
  type ColumnHints,
  type CreditSummary,
  type TypeSummary,
  launchedCredits,
} from './figures.js';

interface Summarized {
  readonly input: string;
  readonly sink: Sink;
  readonly service: string;
  readonly rows: number;
  readonly asked: Asked;
  /** The `maxUnknown` that it goes beyond, in percent. @default none */
  readonly suspectBeyond?: number | undefined;
  readonly seconds: number;
  readonly plan: Plan;
  readonly tally: OutcomeTally;
  readonly batches: readonly DrivenBatch[];
  /** Balances before the first launch and after the last, where available. */
  readonly balances: Balances | undefined;
}

export interface Balances {
  readonly before: CreditBalance;
  readonly after: CreditBalance;
}

/** Rows of a table that others changed or deleted during the verification. */
export function rowsLeftAlone(sink: Sink): number {
  const { changed = 0, gone = 0 } = sink.skippedUpdates?.() ?? {};
  return changed + gone;
}

export function summarize(run: Summarized): Summary {
  const { input, sink, service, rows, seconds, plan, tally } = run;
  const leftOut = sink.rowsLeftOut?.() ?? 0;
  const repeated = sink.rowsRepeated?.() ?? 0;
  const leftOutBy = sink.leftOutBy?.() ?? [];
  const validLeftOut = sink.validLeftOut?.() ?? [];
  const skippedUpdates = sink.skippedUpdates?.();
  const outputs = sink.outputs?.() ?? [{ name: sink.name, rows: rows - leftOut }];
  const { people } = tally;
  const cells = tally.columns();
  const countries = tally.refused.countries();
  return {
    input,
    output: sink.name,
    service,
    rows,
    ...askedOptions(run.asked),
    rows_left_out: leftOut,
    ...(repeated > 0 && { rows_repeated: repeated }),
    ...(leftOutBy.length > 0 && { left_out_by: leftOutBy }),
    // The output is the first; it did not take all rows that it was given.
    outputs: outputs.map((output, at) =>
      at === 0 ? { ...output, rows: output.rows - rowsLeftAlone(sink) } : output,
    ),
    reachable_rows: people.reachable,
    ...(people.byForm > 0 && { rows_by_form: people.byForm }),
    ...(people.optedOut > 0 && { opted_out_rows: people.optedOut }),
    ...(people.splitOff > 0 && { rows_split_off: people.splitOff }),
    suspect: run.suspectBeyond !== undefined,
    ...(run.suspectBeyond !== undefined && { max_unknown: run.suspectBeyond }),
    ...(skippedUpdates && { skipped_updates: skippedUpdates }),
    seconds,
    columns: plan.layout.columns.flatMap(({ name, type }, column) => {
      const counts = cells[column];
      const valid = validLeftOut[column] ?? 0;
      const unfit = tally.refused.unfit.of(column);
      if (!counts) return [];
      return [
        {
          name,
          type,
          ...counts,
          ...columnHints(column, { plan, refused: tally.refused, misspelt: tally.misspelt }),
          ...(valid > 0 && { valid_left_out: valid }),
          ...(unfit && { unfit }),
        },
      ];
    }),
    ...(countries && { countries }),
    email: typeSummary(run, 'email'),
    phone: typeSummary(run, 'phone'),
    credits: { email: creditSummary(run, 'email'), phone: creditSummary(run, 'phone') },
    // Of a batch that was too large only its parts were sent.
    batches: run.batches.filter(({ state }) => state.stage !== 'split').map(batchReport),
  };
}

function typeSummary(run: Summarized, type: VerificationType): TypeSummary | null {
  if (!hasColumns(run.plan, type)) return null;
  const { counts, emailsOfCountries } = run.plan.planner;
  const { submittable, addresses, recalled } = counts[type];
  const several = type === 'email' ? (emailsOfCountries?.count ?? 0) : 0;
  return {
    addresses,
    from_history: recalled,
    duplicates: submittable - addresses,
    ...(several > 0 && { in_several_countries: several }),
    ...run.tally.of(type),
  };
}

function hasColumns(plan: Plan, type: VerificationType): boolean {
  return plan.layout.columns.some((column) => column.type === type);
}

function creditSummary(run: Summarized, type: VerificationType): CreditSummary | null {
  if (!hasColumns(run.plan, type)) return null;
  const batches = run.batches.filter(({ batch }) => batch.group.type === type);
  if (batches.some(({ state }) => mayHaveLaunched(state) && !isAtEnd(state))) {
    return launchedCredits(
      batches.map((driven) => ({ ...driven, addresses: driven.batch.addresses })),
    );
  }
  const charges = batches.map(chargeOf).filter((charge) => charge !== undefined);
  if (charges.length === batches.length)
    return { ...charges.reduce(addCharges, nothing), source: 'cost_objects' };
  if (run.balances) {
    const field = type === 'email' ? 'email_credit' : 'phone_credit';
    const net = run.balances.before[field] - run.balances.after[field];
    const records = batches.reduce((sum, { exported }) => sum + (exported?.named ?? 0), 0);
    // Each record costs at least half a credit. If credits were bought meanwhile, as after a run that stopped
    // for them, the balance does not show the cost.
    if (net >= records / 2)
      return { spent: null, refunded: null, net, source: 'balance_difference' };
  }
  return { spent: null, refunded: null, net: null, source: null };
}

function batchReport({ batch, state, name, charge, exported, times }: DrivenBatch): BatchReport {
  return {
    batch_uuid: ('uuid' in state && state.uuid) || null,
    name: name ?? '',
    type: batch.group.type,
    country: batch.group.country,
    addresses: batch.addresses,
    stage: state.stage,
    reason: state.stage === 'failed' ? state.reason : null,
    charge: charge ?? null,
    export: exported ?? null,
    times,
  };
}

/** What can be corrected in a column of the list. */
export function columnHints(
  column: number,
  {
    plan,
    refused,
    misspelt,
  }: {
    readonly plan: Plan;
    readonly refused: RejectedCells;
    readonly misspelt: MisspeltDomains;
  },
): ColumnHints {
  const forms = refused.forms(column);
  const domains = misspelt.of(column);
  const profile = plan.planner.cells.profiles[column];
  const foreign = profile?.callingCodes?.foreign();
  const isMissing = profile !== undefined && isPlusMissing(profile);
  const misread = profile && misreadNumbers(profile);
  return {
    ...(forms && { forms }),
    ...(domains && { misspelt: domains }),
    ...(isMissing && { ambiguous: profile.ambiguous, ambiguous_rows: profile.rows }),
    ...(foreign && { foreign }),
    ...(misread && { misread }),
  };
}
