import { describe, expect, it } from 'vitest';
import type { VerificationType } from '../../../src/contract/enums.js';
import {
  type FailedReason,
  type BatchState,
  planned,
} from '../../../src/engine/batches/batch-state.js';
import { noTimes, type DrivenBatch } from '../../../src/engine/batches/batch-log.js';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { layOutColumns } from '../../../src/engine/columns/column-layout.js';
import { fileSink } from '../../../src/lists/files/file-sink.js';
import { MemoryStorage } from '../../../src/engine/plan/batch-cutter.js';
import { Plan } from '../../../src/engine/plan/plan.js';
import { type Balances, summarize } from '../../../src/engine/summary/build-summary.js';
import { OutcomeTally } from '../../../src/engine/summary/outcome-tally.js';
import { hasFailed, type Summary } from '../../../src/engine/summary/summary.js';

function planOf(email: readonly string[], phone: readonly string[]): Plan {
  return new Plan({
    layout: layOutColumns(['a', 'b', 'c'], { email, phone }),
    country: 'US',
    batchSize: 10,
    storage: new MemoryStorage(),
  });
}

const flags = { valid: false, wrong: false, unknown: false };

type Stage =
  | { readonly stage: 'exported'; readonly uuid: string }
  | {
      readonly stage: 'failed';
      readonly reason: FailedReason;
      readonly uuid: string | undefined;
      readonly launched: boolean;
    };

function batchOf(id: number, type: VerificationType, known: Stage): DrivenBatch {
  const batch: Batch = {
    id,
    group: { type, country: 'US' },
    addresses: 5,
    sizeBytes: 0,
    checksum: 0,
    open: () => [],
  };
  // What the summary does not read of a stage is left out.
  const whole = { ...planned, ...known } as unknown as BatchState;
  return { batch, state: whole, name: `n-${id}`, charge: undefined, times: noTimes };
}

const exported = { stage: 'exported', uuid: 'u' } as const;
const charge = { spent: 5, refunded: 1, net: 4 };

describe('OutcomeTally', () => {
  it('counts every cell once, by type, bucket, reason, verdict and quality', () => {
    const plan = planOf(['a', 'b'], ['c']);
    const { outcomes } = plan;
    const good = outcomes.idOfRecord('email', { ...flags, valid: true, quality: 'good' });
    const odd = outcomes.idOfRecord('email', { ...flags, quality: 'new word' });
    const both = outcomes.idOfRecord('email', { valid: true, wrong: true, unknown: true });
    const unsure = outcomes.idOfRecord('email', { ...flags, valid: true, unknown: true });
    const phone = outcomes.idOfRecord('phone', { ...flags, valid: true, type: 'mobile' });
    const empty = outcomes.idOf('not_submitted', 'empty');
    const none = outcomes.idOf('no_result', 'no_record');
    const failed = outcomes.idOf('failed', '__proto__');
    const tally = new OutcomeTally(plan);
    tally.add(Uint32Array.of(good, odd, phone, both, unsure, empty));
    tally.add(Uint32Array.of(none, failed, empty));
    tally.add(new Uint32Array(0));

    const { reasons, ...email } = tally.of('email');
    expect(email).toEqual({
      buckets: { verified: 4, not_submitted: 0, no_result: 1, failed: 1 },
      verdicts: { valid: 1, wrong: 1, unknown: 1, none: 1 },
      quality: { good: 1, 'new word': 1, '': 2 },
    });
    expect(Object.entries(reasons)).toEqual([
      ['no_record', 1],
      ['__proto__', 1],
    ]);
    expect(tally.columns().map(({ buckets }) => buckets)).toEqual([
      { verified: 2, not_submitted: 0, no_result: 1, failed: 0 },
      { verified: 2, not_submitted: 0, no_result: 0, failed: 1 },
      { verified: 1, not_submitted: 2, no_result: 0, failed: 0 },
    ]);
    expect(tally.of('phone')).toEqual({
      buckets: { verified: 1, not_submitted: 2, no_result: 0, failed: 0 },
      reasons: { empty: 2 },
      verdicts: { valid: 1, wrong: 0, unknown: 0, none: 0 },
      quality: {},
    });
  });

  it('counts a person as reachable once, by an address that no list or column forbids', () => {
    const plan = planOf(['a'], ['b']);
    const { outcomes } = plan;
    const email = outcomes.idOfRecord('email', { ...flags, valid: true });
    const phone = outcomes.idOfRecord('phone', { ...flags, valid: true });
    const byForm = outcomes.idOfRecord('phone', { ...flags, valid: true, status: 'unknown' });
    const wrong = outcomes.idOfRecord('email', { ...flags, wrong: true });
    const empty = outcomes.idOf('not_submitted', 'empty');
    const suppressed = outcomes.idOf('not_submitted', 'suppressed');
    const tally = new OutcomeTally(plan, ['a', 'b', 'Do Not Call', 'unsubscribed', 'city']);
    const rows = [
      // One person: wrong, suppressed, valid, and again.
      [wrong, empty, '', ''],
      [suppressed, empty, '', '', 'split off'],
      [email, empty, '', '', 'split off'],
      [email, phone, '', '', 'split off'],
      [suppressed, phone, '', ''],
      [suppressed, phone, 'yes', ''],
      [email, phone, 'yes', ''],
      [empty, phone, 'yes', ''],
      [wrong, phone, 'yes', ''],
      // Has opted out of nothing that is known to be valid.
      [wrong, empty, '', 'yes'],
      [email, phone, '', '2026-01-01'],
      // Only its email bounced.
      [email, phone, '', 'cleaned'],
      [email, phone, 'yes', 'true'],
      [wrong, empty, '', ''],
      [wrong, byForm, '', ''],
      [email, byForm, '', ''],
      [suppressed, byForm, '', ''],
      [wrong, byForm, 'yes', ''],
      // One person: by form, then known to be valid.
      [wrong, byForm, '', ''],
      [email, empty, '', '', 'split off'],
      // By form twice.
      [empty, byForm, '', ''],
      [empty, byForm, '', '', 'split off'],
    ] as const;
    const asked = new Set<number>();
    const chunk = {
      length: rows.length,
      byteSize: 0,
      text(row: number, column: number) {
        asked.add(column);
        return String(rows[row]?.[column] ?? '');
      },
      isSplitOff: (row: number) => rows[row]?.length === 5,
    };
    for (const [from, to] of [
      [0, 2],
      [2, rows.length],
    ] as const) {
      tally.add(Uint32Array.from(rows.slice(from, to).flatMap(([one, other]) => [one, other])), {
        chunk,
        from,
      });
    }
    expect(tally.people).toMatchObject({ reachable: 6, byForm: 2, optedOut: 6, splitOff: 5 });
    const ofPhones = { verdicts: { valid: 16 }, valid_by_form: 7 };
    expect(tally.of('phone')).toMatchObject(ofPhones);
    expect(tally.of('email')).not.toHaveProperty('valid_by_form');
    // Reading other cells of each row would cost a fourth of the run.
    expect(asked.has(4)).toBe(false);
  });
});

describe('summarize', () => {
  function summaryOf(plan: Plan, batches: readonly DrivenBatch[], balances?: Balances): Summary {
    const tally = new OutcomeTally(plan);
    return summarize({
      input: 'in',
      sink: { ...fileSink('out.csv'), name: 'out' },
      service: 'local',
      rows: 1,
      asked: {},
      seconds: 2,
      plan,
      tally,
      batches,
      balances,
    });
  }

  it('tells nothing of a type that no column has', () => {
    const summary = summaryOf(planOf(['a'], []), []);
    expect(summary).toMatchObject({ phone: null, credits: { phone: null } });
    expect(summary.credits.email).toEqual({
      spent: 0,
      refunded: 0,
      net: 0,
      source: 'cost_objects',
    });
    expect(hasFailed(summary)).toBe(false);
  });

  it("adds up what the service says of each batch's cost", () => {
    const batches = [0, 1].map((id) => ({ ...batchOf(id, 'email', exported), charge }));
    expect(summaryOf(planOf(['a'], []), batches).credits.email).toEqual({
      spent: 10,
      refunded: 2,
      net: 8,
      source: 'cost_objects',
    });
  });

  it('counts a batch that was never launched as free, and one that may have been as not known', () => {
    const paid = { ...batchOf(0, 'email', exported), charge };
    const failed = { stage: 'failed', reason: 'parse_error', uuid: 'u' } as const;
    const free = batchOf(1, 'email', { ...failed, launched: false });
    const dear = batchOf(1, 'email', { ...failed, launched: true });
    const plan = planOf(['a'], []);
    expect(summaryOf(plan, [paid, free]).credits.email).toMatchObject({ ...charge });
    expect(summaryOf(plan, [paid, dear]).credits.email).toEqual({
      spent: null,
      refunded: null,
      net: null,
      source: null,
    });
  });

  it('falls back on the difference of the balances, for the type that needs it', () => {
    const batches = [batchOf(0, 'email', exported), { ...batchOf(1, 'phone', exported), charge }];
    const balances = {
      before: { email_credit: 100, phone_credit: 50 },
      after: { email_credit: 97.5, phone_credit: 46 },
    };
    expect(summaryOf(planOf(['a'], ['b']), batches, balances).credits).toEqual({
      email: { spent: null, refunded: null, net: 2.5, source: 'balance_difference' },
      phone: { ...charge, source: 'cost_objects' },
    });
  });

  it.each([
    ['nothing', 1000],
    ['what its records cost', 3],
  ])('does not tell a cost below %s: credits were bought meanwhile', (_, left) => {
    const balances = {
      before: { email_credit: 5, phone_credit: 0 },
      after: { email_credit: left, phone_credit: 0 },
    };
    const held = { counted: null, named: 5, strangers: 0, conflicting: 0 };
    const batch = { ...batchOf(0, 'email', exported), exported: held };
    const { credits } = summaryOf(planOf(['a'], []), [batch], balances);
    expect(credits.email).toEqual({ spent: null, refunded: null, net: null, source: null });
  });

  it('reports every batch', () => {
    const batches = [
      { ...batchOf(0, 'email', exported), charge },
      batchOf(1, 'email', {
        stage: 'failed',
        reason: 'upload_error',
        uuid: undefined,
        launched: false,
      }),
    ];
    expect(summaryOf(planOf(['a'], []), batches).batches).toEqual([
      {
        batch_uuid: 'u',
        name: 'n-0',
        type: 'email',
        country: 'US',
        addresses: 5,
        stage: 'exported',
        reason: null,
        charge,
        export: null,
        times: noTimes,
      },
      {
        batch_uuid: null,
        name: 'n-1',
        type: 'email',
        country: 'US',
        addresses: 5,
        stage: 'failed',
        reason: 'upload_error',
        charge: null,
        export: null,
        times: noTimes,
      },
    ]);
  });
});
