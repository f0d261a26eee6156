import { emailRecordFields } from '../../contract/records.js';
import type { Outcome } from './outcome-table.js';

/** The verdicts of a cell; `none` where nothing is known. */
export const verdicts = ['valid', 'wrong', 'unknown', 'none'] as const;
export type Verdict = (typeof verdicts)[number];

/** Of a record with more than one flag set, wrong counts before unknown before valid. */
export function verdictOf({ values }: Pick<Outcome, 'values'>): Verdict {
  const [valid, wrong, unknown] = values ?? [];
  if (wrong === true) return 'wrong';
  if (unknown === true) return 'unknown';
  return valid === true ? 'valid' : 'none';
}

/** From the worst: whatever else a row has, one wrong address makes it a row to look at. */
const fromWorst = ['wrong', 'unknown', 'none', 'valid'] as const satisfies readonly Verdict[];

/** The verdict of a row by those of its cells. */
export function worstVerdict(of: readonly Verdict[]): Verdict {
  return fromWorst.find((verdict) => of.includes(verdict)) ?? 'none';
}

/** The quality that the record of an email gives; empty where it gives none. */
export function qualityOf({ values }: Pick<Outcome, 'values'>): string {
  return String(values?.[qualityField] ?? '');
}

/** Whether the record of an email says that it is of a throw-away service. */
export function isDisposable({ values }: Pick<Outcome, 'values'>): boolean {
  return values?.[disposableField] === true;
}

const qualityField = emailRecordFields.indexOf('quality');
const disposableField = emailRecordFields.indexOf('is_disposable');
