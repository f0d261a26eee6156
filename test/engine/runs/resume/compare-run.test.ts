import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  differingSettings,
  findChange,
  hasSameOutput,
  isSameRun,
  othersThanFinished,
} from '../../../../src/engine/runs/resume/compare-run.js';
import { decisionsOf } from '../../../../src/engine/runs/resume/new-run.js';
import type { PlanEntry, RunEntry } from '../../../../src/engine/stores/journal-entries.js';
import type { ResolvedRun } from '../../../../src/engine/runs/options/run-options.js';

function optionsOf(changes: Partial<ResolvedRun> = {}): ResolvedRun {
  return {
    source: { name: 'list.csv' },
    sink: { name: 'out.csv' },
    email: ['email'],
    country: 'US',
    batchSize: 50_000,
    ...changes,
  } as ResolvedRun;
}

function entryOf(options: ResolvedRun): RunEntry {
  return {
    entry: 'run',
    id: '0123456789abcdef',
    seed: '0'.repeat(64),
    startedAt: '2026-01-01T00:00:00.000Z',
    service: 'https://service.example',
    account: 'a',
    ...decisionsOf(options),
  };
}

const service = 'https://service.example';

function differences(before: ResolvedRun, after: ResolvedRun, asked = service): readonly string[] {
  return differingSettings(entryOf(before), decisionsOf(after).decides, asked);
}

describe('differingSettings', () => {
  it('lets the same settings go on, however they are said', () => {
    expect(differences(optionsOf(), optionsOf())).toEqual([]);
    expect(differences(optionsOf(), optionsOf({ settings: {} }))).toEqual([]);
    // What is written down is JSON: fields without a value are as if they were not there.
    expect(differences(optionsOf({ settings: { description: undefined } }), optionsOf())).toEqual(
      [],
    );
  });

  it.each<[string, NonNullable<ResolvedRun['settings']>]>([
    ['`settings.use_global_cache`', { use_global_cache: false }],
    ['`settings.description`', { description: 'x' }],
    ['`settings.target_audience`', { target_audience: 3 }],
    [
      '`settings.remove_wrong_email_format`, `settings.remove_wrong_phone_format`',
      { remove_wrong_email_format: false, remove_wrong_phone_format: false },
    ],
  ])('names %s when it differs, in either direction', (option, settings) => {
    expect(differences(optionsOf(), optionsOf({ settings })).join(', ')).toBe(option);
    expect(differences(optionsOf({ settings }), optionsOf()).join(', ')).toBe(option);
  });

  it('names the service, and nothing that decides the rows', () => {
    const other = optionsOf({ country: 'DE', batchSize: 7, settings: { description: 'x' } });
    expect(differences(optionsOf(), other, 'local')).toEqual([
      expect.stringMatching(/^`baseUrl` \(https:\/\/service\.example\b/),
      '`settings.description`',
    ]);
  });
});

describe('hasSameOutput', () => {
  const state = decisionsOf(optionsOf());

  it.each<[string, Partial<ResolvedRun>]>([
    ['another output', { sink: { name: 'other.csv' } as ResolvedRun['sink'] }],
    ['another form of it', { decides: { 'output-format': 'jsonl', 'part-size': '1M' } }],
    ['other rows in it', { decides: { keep: 'valid', 'keep-quality': 'good', rejects: 'no.csv' } }],
    ['other names of columns', { prefix: { email: 'x' } }],
    ['more columns', { provenance: true }],
  ])('knows %s', (_, change) => {
    expect(hasSameOutput(state, decisionsOf(optionsOf(change)))).toBe(false);
  });

  it('takes no notice of how a path is written, nor of a size that is the default one', () => {
    const sink = { name: resolve('out.csv') } as ResolvedRun['sink'];
    const same = optionsOf({ sink, batchSize: 50_000 });
    expect(hasSameOutput(state, decisionsOf(same))).toBe(true);
    const source = { name: './list.csv' } as ResolvedRun['source'];
    expect(isSameRun({ ...entryOf(same) }, decisionsOf(optionsOf({ source })), service)).toBe(true);
  });
});

describe('findChange', () => {
  const plan: PlanEntry = {
    entry: 'plan',
    rows: 3,
    content: 'abc',
    batches: [{ type: 'email', country: 'US', addresses: 3, checksum: 7 }],
  };
  const other: PlanEntry = { ...plan, content: 'abd' };
  const run = entryOf(optionsOf());

  it('finds none where the rows make the same batches, whatever the options are', () => {
    const { decides } = decisionsOf(optionsOf({ batchSize: 7, prefix: { email: 'x' } }));
    expect(findChange({ run, plan }, decides, structuredClone(plan))).toBeUndefined();
    expect(findChange({ run, plan }, decides, { ...plan, headers: [3] })).toBeUndefined();
  });

  it.each<[string | RegExp, Partial<PlanEntry>]>([
    [/\b4\b.*\b3\b/, { rows: 4 }],
    ["the list's content", { content: 'abd' }],
    ["the list's content", { content: null }],
    ["the list's content", { batches: [] }],
    [
      "the list's content",
      { batches: [{ type: 'email', country: 'US', addresses: 3, checksum: 8 }] },
    ],
    [/\b3\b.*\b1\b/, { headers: [3], content: 'abd' }],
  ])('names the change: %s', (what, change) => {
    expect(findChange({ run, plan }, run.decides, { ...plan, ...change })).toMatch(what);
  });

  it('lays no change to what only the output is made by, also if only one of both was given it', () => {
    const sink = { name: 'out.csv', decides: { keep: 'valid', 'part-size': '1' } };
    const written = decisionsOf(optionsOf({ sink: sink as unknown as ResolvedRun['sink'] }));
    expect(findChange({ run, plan }, written.decides, other)).toBe("the list's content");
    const before = { run: { ...run, ...written }, plan };
    expect(findChange(before, run.decides, other)).toBe("the list's content");
    expect(hasSameOutput(before.run, run)).toBe(false);
  });

  it.each<[RegExp, Partial<ResolvedRun>]>([
    [/^`email` \(email\b.*\bmail\b/, { email: ['mail'] }],
    [/^`phone`.*\bmobile\b/, { phone: ['mobile'] }],
    [/^`country` \(US\b.*\bDE\b/, { country: 'DE' }],
    [/^`countryColumn`.*\bcountry\b/, { countryColumn: 'country' }],
    [/^`countryFrom`.*\bmobile\b/, { countryFrom: 'mobile' }],
    [/^`batchSize` \(50000\b.*\b7\b/, { batchSize: 7 }],
    [/^`header`.*\bfalse\b/, { decides: { header: false } }],
    [/^`country` \(US\b.*\bDE\b.*`batchSize` \(50000\b.*\b7\b/, { country: 'DE', batchSize: 7 }],
  ])('names %s', (options, change) => {
    const { decides } = decisionsOf(optionsOf(change));
    expect(findChange({ run, plan }, decides, other)).toMatch(options);
  });
});

describe('othersThanFinished', () => {
  it('names settings one by one, and shows values as they are given', () => {
    const given = optionsOf({
      settings: { use_global_cache: false },
      batchSize: 10,
    });
    const [before, now] = [decisionsOf(optionsOf()), decisionsOf(given)];
    expect(othersThanFinished(before, before)).toBeUndefined();
    const text = othersThanFinished(before, now);
    for (const each of ['`settings.use_global_cache`', '50000', '10']) {
      expect(text).toContain(each);
    }
    expect(text).not.toContain('{');
  });
});
