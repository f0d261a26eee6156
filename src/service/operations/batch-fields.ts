import type { VerificationType } from '../../contract/enums.js';
import { refundOf, statusOf, type Batch, type Charge } from '../storage/batch.js';
import type { ParsingCounts, VerdictCount } from '../storage/events.js';
import type { Variants } from '../variants.js';

/** A timestamp of format `date-time` (spec 2). */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The fields of a list item (spec 2.2), which details share. */
export function summaryFields(batch: Batch, variants: Variants): Record<string, unknown> {
  const status = statusOf(batch.stage);
  return {
    batch_uuid: batch.uuid,
    name: batch.name,
    description: batch.description,
    status: variants.statusWords[status] ?? status,
    created_at: dateTime(batch.createdAtMs),
    updated_at: dateTime(batch.updatedAtMs),
  };
}

/**
 * Fields of a batch beyond its summary, by stage. "As soon as they are known, the answer also carries the
 * costs, the results and the refunds" (spec 2.5); the names of the objects that hold them are not shown, and
 * these are our choice: `parsing_counts` from `ready_for_verification` on, `cost` from the launch on,
 * `results` when done.
 */
export function progressFields(
  { stage, parameters }: Batch,
  { counts }: Variants,
): Record<string, unknown> {
  const { type } = parameters;
  if (!counts) return {};
  switch (stage.name) {
    case 'uploaded':
    case 'parsing':
    case 'failed':
      return {};
    case 'ready':
      return { parsing_counts: parsingCounts(type, stage.prepared.counts) };
    case 'verifying':
      return {
        parsing_counts: parsingCounts(type, stage.prepared.counts),
        cost: costOf(type, stage.charge),
      };
    case 'done':
      return {
        parsing_counts: parsingCounts(type, stage.prepared.counts),
        cost: costOf(type, stage.charge),
        results: countResults(stage.verdicts),
      };
  }
}

/** Parsing counts (spec 2.8). */
function parsingCounts(type: VerificationType, counts: ParsingCounts): Record<string, number> {
  return {
    [`valid_${type}`]: counts.valid,
    [`wrong_${type}`]: counts.wrong,
    [`duplicate_${type}`]: counts.duplicate,
  };
}

/**
 * Cost object (spec 2.8). `…_return` are integers there, while a refund is half a credit: they count cached
 * records, and `net_…_cost` has the credits.
 */
export function costOf(type: VerificationType, charge: Charge): Record<string, number> {
  return {
    [`total_${type}_cost`]: charge.addresses,
    [`net_${type}_cost`]: charge.addresses - refundOf(charge),
    [`${type}_cache_account_return`]: charge.accountHits,
    [`${type}_cache_global_return`]: charge.globalHits,
  };
}

/** Number of addresses by verdict; for emails also by quality, for phones by type. */
function countResults(verdicts: readonly VerdictCount[]): Record<string, unknown> {
  const results = { total: 0, valid: 0, wrong: 0, unknown: 0 };
  const kinds = new Map<string, number>();
  let kindName = 'quality';
  for (const { verdict, count } of verdicts) {
    results.total += count;
    if (verdict.valid) results.valid += count;
    if (verdict.wrong) results.wrong += count;
    if (verdict.unknown) results.unknown += count;
    kindName = 'quality' in verdict ? 'quality' : 'type';
    const kind = 'quality' in verdict ? verdict.quality : verdict.type;
    kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  }
  return { ...results, [kindName]: Object.fromEntries(kinds) };
}
