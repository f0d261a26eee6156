import { describe, expect, it } from 'vitest';
import type { BatchState } from '../../../../src/engine/batches/batch-state.js';
import type { PlannedRun } from '../../../../src/engine/runs/resume/compare-run.js';
import { leftOfRun } from '../../../../src/engine/runs/resume/left-to-send.js';
import type { BatchEntry, PartEntry } from '../../../../src/engine/stores/journal-entries.js';
import { emptyRunState } from '../../../../src/engine/stores/run-state.js';
import { statusOf } from '../../../../src/engine/stores/run-status.js';
import { exported, planEntry, runEntry } from '../../stores/example-entries.js';

const states = {
  exported,
  ready: { ...exported, stage: 'ready' },
  inDoubt: { ...exported, stage: 'ready', doubt: true },
  launching: { ...exported, stage: 'launching', answeredError: false },
  split: { stage: 'split', uuid: undefined, attempt: 1, fresh: 0, uploads: 1 },
  lost: { ...exported, stage: 'failed', reason: 'launch_lost', launched: true },
  refused: { ...exported, stage: 'failed', reason: 'parse_error', launched: false },
  incomplete: { ...exported, stage: 'failed', reason: 'export_incomplete', launched: true },
} as const satisfies Record<string, BatchState>;

type Known = Partial<BatchEntry> | Partial<PartEntry>;

/** Three batches of 10 emails, and one of 4 phones, of which the given ones are known. */
function runOf(known: readonly Known[], isFinished = false): PlannedRun {
  const emails = { type: 'email', country: 'US', addresses: 10, checksum: 0 };
  const phones = { ...emails, type: 'phone', addresses: 4 };
  const entries = known.map((each, at) => [String(at), { entry: 'batch', ...each }] as const);
  return {
    ...emptyRunState,
    run: runEntry,
    plan: { ...planEntry, batches: [emails, emails, emails, phones] },
    batches: new Map(entries as unknown as readonly (readonly [string, BatchEntry])[]),
    ...(isFinished && { finished: {} as NonNullable<PlannedRun['finished']> }),
  };
}

function figuresOf(run: PlannedRun, retryFailed = false): readonly (readonly [number, number])[] {
  const { batches, launched } = leftOfRun(run, { retryFailed });
  return (['email', 'phone'] as const).map((type) => {
    const sizes = batches.flatMap(({ group, addresses }) =>
      group.type === type ? [addresses] : [],
    );
    return [sizes.reduce((sum, size) => sum + size, 0), launched[type]] as const;
  });
}

describe('what a run has left to send', () => {
  it.each<[string, readonly Known[], readonly [number, number]]>([
    ['nothing that it has launched', [{ batch: 0, state: states.exported }], [20, 10]],
    ['what it has only uploaded', [{ batch: 0, state: states.ready }], [30, 0]],
    ['a launch that may not have arrived', [{ batch: 0, state: states.inDoubt }], [30, 0]],
    ['a launch without an answer', [{ batch: 0, state: states.launching }], [30, 0]],
    ['nothing that has failed', [{ batch: 0, state: states.refused }], [20, 0]],
    [
      'the parts of a batch that are not launched, also those it knows nothing of',
      [
        { batch: 0, state: states.split },
        { batch: 0, entry: 'part', start: 0, addresses: 5, state: states.exported },
      ],
      [25, 5],
    ],
    [
      'a batch again whose launch failed',
      [{ batch: 0, state: states.ready, replacedCharge: { spent: 8, refunded: 0, net: 8 } }],
      [30, 8],
    ],
  ])('is %s', (_, known, emails) => {
    expect(figuresOf(runOf(known))).toEqual([emails, [4, 0]]);
    // The status counts a launch in doubt as one that may be spent, and what is left as one to be repeated.
    const { openCredits, doubtfulCredits, launchedCredits } = statusOf(runOf(known), '');
    expect([
      openCredits.email + doubtfulCredits.email,
      launchedCredits.email - doubtfulCredits.email,
    ]).toEqual(emails);
  });

  it('is what has failed, where that is sent again, but for exports that are asked for again', () => {
    const all = [states.lost, states.incomplete, states.refused, states.exported];
    const known = all.map((state, batch) => ({ batch, state }));
    for (const run of [runOf(known, true), runOf(known)]) {
      expect(figuresOf(run, true)).toEqual([
        [20, 20],
        [0, 4],
      ]);
    }
  });
});
