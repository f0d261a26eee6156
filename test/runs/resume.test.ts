import { describe, expect, it } from 'vitest';
import {
  checkSamePlan,
  checkSameRun,
  decidingOptions,
  hasSameOutput,
} from '../../src/runs/resume.js';
import type { PlanEntry, RunEntry } from '../../src/runs/run-entries.js';
import type { RunOptions } from '../../src/runs/run-options.js';

function optionsOf(changes: Partial<RunOptions> = {}): RunOptions {
  return {
    source: { name: 'list.csv' },
    sink: { name: 'out.csv' },
    email: ['email'],
    country: 'US',
    ...changes,
  } as RunOptions;
}

function entryOf(options: RunOptions): RunEntry {
  return {
    entry: 'run',
    id: '0123456789abcdef',
    seed: '0'.repeat(64),
    startedAt: '2026-01-01T00:00:00.000Z',
    service: 'https://service.example',
    account: 'a',
    decides: decidingOptions(options),
  };
}

function differences(before: RunOptions, after: RunOptions, service?: string): string | undefined {
  try {
    checkSameRun(entryOf(before), {
      decides: decidingOptions(after),
      service: service ?? 'https://service.example',
    });
  } catch (error) {
    expect(error).toMatchObject({ code: 'state_mismatch' });
    return /these differ: ([^.]*)\./.exec((error as Error).message)?.[1];
  }
  return undefined;
}

describe('checkSameRun', () => {
  it('lets the same options go on, however they are said', () => {
    expect(differences(optionsOf(), optionsOf())).toBeUndefined();
    expect(differences(optionsOf(), optionsOf({ phone: [], settings: {} }))).toBeUndefined();
    // What is written down is JSON: fields without a value are as if they were not there.
    expect(
      differences(optionsOf({ settings: { description: undefined } }), optionsOf()),
    ).toBeUndefined();
  });

  it.each<[string, Partial<RunOptions>]>([
    ['input', { source: { name: 'other.csv' } as RunOptions['source'] }],
    ['email', { email: ['mail'] }],
    ['email', { email: ['email', 'mail'] }],
    ['phone', { phone: ['mobile'] }],
    ['country', { country: 'DE' }],
    ['country-column', { countryColumn: 'country' }],
    ['prefix', { prefix: { email: 'x' } }],
    ['batch-size', { batchSize: 7 }],
    ['settings', { settings: { use_global_cache: false } }],
    ['settings', { settings: { description: 'x' } }],
    ['header', { decides: { header: false } }],
  ])('names %s when it differs, in either direction', (name, change) => {
    expect(differences(optionsOf(), optionsOf(change))).toBe(name);
    expect(differences(optionsOf(change), optionsOf())).toBe(name);
  });

  it('names all that differs, the service among it', () => {
    const other = optionsOf({ country: 'DE', batchSize: 7 });
    expect(differences(optionsOf(), other, 'local')).toBe('country, batch-size, base-url');
  });

  it('lets what does not decide the rows differ', () => {
    const free = { concurrency: 9, pollIntervalMs: 1, maxCredits: 5, batchDeadlineMs: 1 };
    expect(differences(optionsOf(), optionsOf({ ...free, batchName: 'night' }))).toBeUndefined();
  });

  it.each<[string, Partial<RunOptions>]>([
    ['another output', { sink: { name: 'other.csv' } as RunOptions['sink'] }],
    ['another form of it', { decides: { 'output-format': 'jsonl', 'part-size': '1M' } }],
    ['other rows in it', { decides: { keep: 'valid', 'keep-quality': 'good', rejects: 'no.csv' } }],
  ])('lets %s have what is paid for, and knows it for another', (_, change) => {
    expect(differences(optionsOf(), optionsOf(change))).toBeUndefined();
    const known = { decides: decidingOptions(optionsOf()) } as RunEntry;
    expect(hasSameOutput(known, decidingOptions(optionsOf(change)))).toBe(false);
    expect(hasSameOutput(known, decidingOptions(optionsOf()))).toBe(true);
  });

  it('takes a size that is given for the same when it is the default one', () => {
    expect(differences(optionsOf(), optionsOf({ batchSize: 50_000 }))).toBeUndefined();
  });
});

describe('checkSamePlan', () => {
  const plan: PlanEntry = {
    entry: 'plan',
    rows: 3,
    content: 'abc',
    batches: [{ type: 'email', country: 'US', addresses: 3, checksum: 7 }],
  };

  it('lets the same go on', () => {
    expect(() => checkSamePlan(plan, structuredClone(plan), 'list.csv')).not.toThrow();
  });

  it.each<[string, Partial<PlanEntry>]>([
    ['it has 4 rows now and had 3', { rows: 4 }],
    ['its content differs', { content: 'abd' }],
    ['its content differs', { content: null }],
    ['its content differs', { batches: [] }],
    [
      'its content differs',
      { batches: [{ type: 'email', country: 'US', addresses: 3, checksum: 8 }] },
    ],
  ])('says that %s', (what, change) => {
    expect(() => checkSamePlan(plan, { ...plan, ...change }, 'list.csv')).toThrow(
      expect.objectContaining({
        code: 'state_mismatch',
        message: expect.stringContaining(`list.csv has changed`) as string,
      }) as Error,
    );
    expect(() => checkSamePlan(plan, { ...plan, ...change }, 'list.csv')).toThrow(what);
  });
});
