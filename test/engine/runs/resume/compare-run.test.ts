import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Differences,
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

function differences(
  before: ResolvedRun,
  after: ResolvedRun,
  asked = service,
): Differences | undefined {
  return differingSettings(entryOf(before), decisionsOf(after).decides, asked);
}

describe('differingSettings', () => {
  it('lets the same settings go on, however they are said', () => {
    expect(differences(optionsOf(), optionsOf())).toBeUndefined();
    expect(differences(optionsOf(), optionsOf({ settings: {} }))).toBeUndefined();
    // What is written down is JSON: fields without a value are as if they were not there.
    const unset = optionsOf({ settings: { description: undefined } });
    expect(differences(unset, optionsOf())).toBeUndefined();
  });

  it.each<[string[], NonNullable<ResolvedRun['settings']>]>([
    [['settings.use_global_cache'], { use_global_cache: false }],
    [['settings.description'], { description: 'x' }],
    [['settings.target_audience'], { target_audience: 3 }],
    [
      ['settings.remove_wrong_email_format', 'settings.remove_wrong_phone_format'],
      { remove_wrong_email_format: false, remove_wrong_phone_format: false },
    ],
  ])('names %j when it differs, in either direction', (options, settings) => {
    const text = options.map((option) => `\`${option}\``).join(', ');
    expect(differences(optionsOf(), optionsOf({ settings }))).toEqual({ options, text });
    expect(differences(optionsOf({ settings }), optionsOf())).toEqual({ options, text });
  });

  it('names the service, and nothing that decides the rows', () => {
    const other = optionsOf({ country: 'DE', batchSize: 7, settings: { description: 'x' } });
    expect(differences(optionsOf(), other, 'local')).toEqual({
      options: ['baseUrl', 'settings.description'],
      text: expect.stringContaining(service) as string,
    });
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

  const changeOfContent = { options: ['source'], text: expect.not.stringMatching(/\d/) as string };

  it.each<[string, RegExp, Partial<PlanEntry>]>([
    ['rows', /\b4\b.*\b3\b/, { rows: 4 }],
    ['content', /^\D+$/, { content: 'abd' }],
    ['content', /^\D+$/, { content: null }],
    ['content', /^\D+$/, { batches: [] }],
    [
      'content',
      /^\D+$/,
      { batches: [{ type: 'email', country: 'US', addresses: 3, checksum: 8 }] },
    ],
    ['header', /\b3\b.*\b1\b/, { headers: [3], content: 'abd' }],
  ])('names the change: its %s, %s', (_, numbers, change) => {
    expect(findChange({ run, plan }, run.decides, { ...plan, ...change })).toEqual({
      options: ['source'],
      text: expect.stringMatching(numbers) as string,
    });
  });

  it('lays no change to what only the output is made by, also if only one of both was given it', () => {
    const sink = { name: 'out.csv', decides: { keep: 'valid', 'part-size': '1' } };
    const written = decisionsOf(optionsOf({ sink: sink as unknown as ResolvedRun['sink'] }));
    expect(findChange({ run, plan }, written.decides, other)).toEqual(changeOfContent);
    const before = { run: { ...run, ...written }, plan };
    expect(findChange(before, run.decides, other)).toEqual(changeOfContent);
    expect(hasSameOutput(before.run, run)).toBe(false);
  });

  it.each<[string[], RegExp, Partial<ResolvedRun>]>([
    [['email'], /\(email\b.*\bmail\b/, { email: ['mail'] }],
    [['phone'], /\bmobile\b/, { phone: ['mobile'] }],
    [['country'], /\(US\b.*\bDE\b/, { country: 'DE' }],
    [['countryColumn'], /\bcountry\b/, { countryColumn: 'country' }],
    [['countryFrom'], /\bmobile\b/, { countryFrom: 'mobile' }],
    [['batchSize'], /\(50000\b.*\b7\b/, { batchSize: 7 }],
    [['header'], /\bfalse\b/, { decides: { header: false } }],
    [['country', 'batchSize'], /US\b.*\bDE\b.*50000\b.*\b7\b/, { country: 'DE', batchSize: 7 }],
  ])('names %j and both values', (options, values, change) => {
    const { decides } = decisionsOf(optionsOf(change));
    const text = expect.stringMatching(values) as string;
    expect(findChange({ run, plan }, decides, other)).toEqual({ options, text });
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
    expect(othersThanFinished(before, now)).toEqual({
      options: ['settings.use_global_cache', 'batchSize'],
      text: expect.stringMatching(/^[^{]*\b50000\b[^{]*\b10\b[^{]*$/) as string,
    });
  });
});
