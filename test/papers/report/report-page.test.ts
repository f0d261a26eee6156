import { describe, expect, it } from 'vitest';
import { percent } from '../../../src/papers/report/charts.js';
import { reportPage } from '../../../src/papers/report/report-page.js';
import { exampleFigures, exampleSummary } from './example-report.js';

const evil = '<img src=x onerror=alert(1)>&"\'\u202e';

describe('the report of a run', () => {
  const madeAt = new Date('2026-11-21T03:00:00Z');
  const page = reportPage({ summary: exampleSummary(), figures: exampleFigures(), madeAt });

  it('loads nothing and runs nothing', () => {
    expect(page).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
    expect(page).not.toMatch(/<script|<link|<img|url\(|https?:\/\/(?!verify\.example\.com)/);
    expect(page).not.toMatch(/ style=/);
  });

  it('has the figures of the summary in words, beside each chart', () => {
    const text = page.replaceAll(/<style>.*<\/style>/gs, '').replaceAll(/<[^>]+>/g, ' ');
    const plain = text.replaceAll(/\s+/g, ' ');
    expect(plain).toContain('1,000 rows');
    expect(plain).toContain('valid 600 60 %');
    expect(plain).toContain('no_record sent, and the service gave no result');
    expect(plain).toContain('example.com 3 1 1 0');
    expect(plain).toContain('Acme Mobile');
    expect(plain).toContain('email 900 100 800 as the service says');
    expect(plain).toContain('internal_error');
    expect(plain).toMatch(/From 2026-11-21 03:00:00 UTC to 2026-11-21 03:00:40 UTC \(40 s\)/);
    expect(plain).toContain('The history knew 50 of the addresses');
    expect(plain).toContain('The run before ended at 2026-11-20 03:00:00 UTC');
    expect(plain).toContain('Unknown 15.8 % 1.2 %');
    expect(plain).toContain('Credits, net 800 49');
    expect(plain).toContain('15.8 % unknown results, usually 1.0 % (0.0 % to 3.0 %)');
  });

  it('draws a column for each of the last 30 runs, its own among them', () => {
    const charts = page.match(/<svg\s+class="runs".*?<\/svg>/gs) ?? [];
    expect(charts).toHaveLength(2);
    for (const chart of charts) expect(chart.match(/class="unknown"/g)).toHaveLength(30);
    const { compared: _, ...first } = exampleSummary();
    const alone = reportPage({ summary: first, figures: undefined, madeAt });
    expect(alone).not.toContain('Compared with earlier runs');
  });

  it('escapes whatever comes from outside', () => {
    const summary = exampleSummary();
    const hostile = {
      ...summary,
      input: evil,
      output: evil,
      service: evil,
      email: summary.email && { ...summary.email, reasons: { [evil]: 1 }, quality: { [evil]: 2 } },
      batches: summary.batches.map((batch) => ({ ...batch, name: evil, reason: evil })),
    };
    const figures = exampleFigures(evil);
    const made = reportPage({ summary: hostile, figures, madeAt });
    expect(made).not.toContain('<img');
    expect(made).not.toContain('\u202e');
    expect(made.split('&lt;img src=x').length).toBeGreaterThan(8);
  });

  it('says what it cannot know', () => {
    const summary = { ...exampleSummary(), service: 'local', email: null, batches: [] };
    const none = { spent: null, refunded: null, net: null, source: null };
    const credits = { email: null, phone: none };
    const page = reportPage({ summary: { ...summary, credits }, figures: undefined, madeAt });
    const made = page.replaceAll(/\s+/g, ' ');
    expect(made).toContain('domains and operators were not counted');
    expect(made).toContain('the service did not say');
    expect(made).toContain('offline and free of charge');
    expect(made).not.toContain('Batches over time');
  });

  it.each([
    [0, 0, '0 %'],
    [1, 3000, '&lt; 0.1 %'.replace('&lt;', '<')],
    [1, 3, '33.3 %'],
    [2999, 3000, '100 %'],
    [5, 5, '100 %'],
  ])('writes %i of %i as a share', (count, whole, text) => {
    expect(percent(count, whole)).toBe(text);
  });
});
