import * as z from 'zod';
import type { PastCounts, PastRun, Summary, TypeSummary } from './summary.js';

const count = z.int().min(0);

const pastCounts = z.object({
  addresses: count.describe('Unique addresses'),
  from_history: count.describe('Those that the history knew: they were not paid for again'),
  verdicts: z
    .object({ valid: count, wrong: count, unknown: count, none: count })
    .describe('Verified cells by verdict'),
  net_credits: z.number().nullable().describe('What the run cost; null where it is not known'),
});

export const pastRunSchema = z.object({
  finished_at: z.string().meta({ format: 'date-time' }),
  rows: count,
  email: pastCounts.nullable(),
  phone: pastCounts.nullable(),
}) satisfies z.ZodType<PastRun>;

export function pastRunOf(summary: Summary, finishedMs: number): PastRun {
  const { rows, email, phone, credits } = summary;
  const of = (counts: TypeSummary | null, net: number | null | undefined): PastCounts | null =>
    counts && {
      addresses: counts.addresses,
      from_history: counts.from_history,
      verdicts: counts.verdicts,
      net_credits: net ?? null,
    };
  return {
    finished_at: new Date(finishedMs).toISOString(),
    rows,
    email: of(email, credits.email?.net),
    phone: of(phone, credits.phone?.net),
  };
}
