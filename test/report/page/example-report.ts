import { ListFigures } from '../../../src/report/page/list-figures.js';
import { reportPage, type Report } from '../../../src/report/page/report-page.js';
import { endOf } from '../../../src/report/run-end.js';
import type { Summary } from '../../../src/index.js';
import { addedColumnsOf } from '../../lists/rows/added-columns.js';

/** A run with something of everything that a report shows. */
export function exampleSummary(): Summary {
  const at = (second: number): string =>
    new Date(Date.UTC(2026, 10, 21, 3, 0, second)).toISOString();
  const batch = {
    batch_uuid: '0d4f2a6e-6b1c-4f0e-9a51-3a4f0c2b7d10',
    name: 'sluice-0011223344556677-000001-1',
    type: 'email',
    country: 'US',
    addresses: 900,
    stage: 'exported',
    reason: null,
    charge: { spent: 900, refunded: 100, net: 800 },
    export: null,
    times: {
      uploaded_at: at(0),
      prepared_at: at(4),
      launched_at: at(5),
      verified_at: at(38),
      exported_at: at(40),
    },
  } as const;
  const none = {
    uploaded_at: at(1),
    prepared_at: null,
    launched_at: null,
    verified_at: null,
    exported_at: null,
  };
  const cells = {
    buckets: { verified: 950, not_submitted: 20, no_result: 20, failed: 10 },
    reasons: { empty: 20, no_record: 20, internal_error: 10 },
    verdicts: { valid: 600, wrong: 200, unknown: 150, none: 0 },
    quality: { good: 600, bad: 200, risky: 50, unknown: 100 },
    of_valid: { risky: 12, disposable: 0, both: 0 },
  };
  const counts = { addresses: 900, from_history: 50, duplicates: 20, ...cells };
  return {
    input: 'contacts.csv',
    output: 'verified.csv',
    service: 'https://verify.example.com',
    rows: 1000,
    rows_left_out: 0,
    outputs: [{ name: 'verified.csv', rows: 1000 }],
    reachable_rows: 850,
    suspect: false,
    seconds: 61.5,
    columns: [
      { name: 'email', type: 'email', ...cells },
      { name: 'mobile', type: 'phone', ...cells, quality: {} },
    ],
    email: counts,
    phone: { ...counts, quality: {} },
    credits: {
      email: { spent: 900, refunded: 100, net: 800, source: 'cost_objects' },
      phone: { spent: null, refunded: null, net: 12.5, source: 'balance_difference' },
    },
    batches: [
      batch,
      { ...batch, stage: 'failed', reason: 'internal_error', charge: null, times: none },
    ],
    compared: { previous: past.at(-1), runs: past, odd },
  } as unknown as Summary;
}

/** Thirty nights that are nearly alike. */
const past = Array.from({ length: 30 }, (_, night) => {
  const unknown = 8 + ((night * 7) % 5);
  const verdicts = { valid: 760 - unknown, wrong: 180 + (night % 3), unknown, none: 5 };
  const type = { addresses: 890 + night, from_history: 870, verdicts, net_credits: 20 + night };
  const finishedAt = new Date(Date.UTC(2026, 9, 22 + night, 3)).toISOString();
  return { finished_at: finishedAt, rows: 950 + night, email: type, phone: type };
});
const odd = [{ type: 'email', share: 'unknown', now: 0.158, usual: 0.01, allowed: 0.02 }];

/** The page of a run, made as the command makes it. */
export function exampleReport({
  summary = exampleSummary(),
  figures,
}: Partial<Pick<Report, 'summary' | 'figures'>> = {}): string {
  const madeAt = new Date('2026-11-21T03:00:00Z');
  return reportPage({ summary, figures, end: endOf(summary), madeAt });
}

/** What four rows of a list with an email and a phone tell. */
export function exampleFigures(operator = 'Acme Mobile'): ListFigures {
  const emails = ['a@example.com\u200b', 'b@Example.com ', 'no address', 'c@example.com'];
  const opening = {
    reading: { header: ['email', 'mobile'] },
    verified: [0, 1],
    added: [
      addedColumnsOf('email', 'reason', 'valid', 'wrong', 'unknown', 'quality'),
      addedColumnsOf('mobile', 'reason', 'valid', 'wrong', 'unknown', 'operator'),
    ],
    cellsOf: (outcome: number, column: number) => [
      outcome === 0 ? 'no_record' : '',
      outcome === 1,
      outcome === 2,
      false,
      column === 1 ? operator : 'good',
    ],
  } as unknown as ConstructorParameters<typeof ListFigures>[0];
  const figures = new ListFigures(opening);
  figures.add({
    chunk: {
      length: 4,
      byteSize: 0,
      text: (row, column) => (column === 0 ? emails[row] : '+12025550123'),
    },
    from: 0,
    to: 4,
    outcomes: Uint32Array.from([1, 1, 2, 1, 0, 1, 0, 1]),
    width: 2,
  });
  return figures;
}

/** Where whatever a person names is called so. */
export function summaryNamed(name: string): Summary {
  const summary = exampleSummary();
  return {
    ...summary,
    input: name,
    output: name,
    service: name,
    outputs: [{ name, rows: 900 }],
    columns: summary.columns.map((column) => ({ ...column, name, valid_left_out: 100 })),
    batches: summary.batches.map((batch) => ({ ...batch, name })),
  };
}
