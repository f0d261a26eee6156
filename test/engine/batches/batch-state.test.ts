import { describe, expect, it } from 'vitest';
import {
  elected,
  mayHaveLaunched,
  planned,
  renewTries,
  type Stage,
} from '../../../src/engine/batches/batch-state.js';
import { electedAs, stages, stateOf } from './any-event.js';

describe('mayHaveLaunched', () => {
  it('holds from the moment a launch was asked for', () => {
    const launched = stages.filter((stage) => mayHaveLaunched(stateOf[stage]));
    expect(launched).toEqual(['launching', 'verifying', 'done', 'exported', 'failed']);
  });

  it('holds for a batch that stepped back while an earlier launch is in doubt', () => {
    for (const stage of ['uploaded', 'parsing', 'ready'] as const) {
      expect(mayHaveLaunched(stateOf[stage])).toBe(false);
      expect(mayHaveLaunched({ ...stateOf[stage], doubt: true })).toBe(true);
    }
  });

  it('holds for a failed batch as it was written down', () => {
    expect(mayHaveLaunched({ ...stateOf.failed, launched: false })).toBe(false);
    expect(mayHaveLaunched({ ...stateOf.failed, launched: true })).toBe(true);
  });
});

describe('renewTries', () => {
  const worn = { uploads: 4, misses: 9, prepares: 9, launches: 19 } as const;
  const fresh = { uploads: 0, misses: 0, prepares: 0, launches: 0 };

  it('begins every count anew and keeps everything else', () => {
    const { stage: _, ...rest } = { ...electedAs, stage: 'x', ...worn, attempt: 7, fresh: 1 };
    expect(renewTries({ ...planned, attempt: 7, uploads: 5 })).toEqual({
      ...planned,
      attempt: 7,
    });
    expect(renewTries({ ...stateOf.uploading, accepted: true, looks: 3, uploads: 5 })).toEqual({
      ...stateOf.uploading,
      accepted: true,
      uploads: 0,
    });
    for (const stage of ['uploaded', 'ready'] as const) {
      expect(renewTries({ stage, ...rest })).toEqual({ stage, ...rest, ...fresh });
    }
    expect(renewTries({ stage: 'parsing', ...rest, prepared: false, polls: 2 })).toEqual({
      stage: 'parsing',
      ...rest,
      ...fresh,
      prepared: false,
      polls: 2,
    });
    expect(renewTries({ stage: 'verifying', ...rest, readies: 2 })).toEqual({
      stage: 'verifying',
      ...rest,
      ...fresh,
      readies: 0,
    });
    expect(renewTries({ stage: 'done', ...rest, broken: 10 })).toEqual({
      stage: 'done',
      ...rest,
      ...fresh,
      broken: 0,
    });
  });

  it('leaves a launch in doubt whose answer nobody hears any more', () => {
    expect(renewTries(stateOf.launching)).toMatchObject({ stage: 'launching', doubt: true });
  });

  it('changes nothing about a batch at its end', () => {
    expect(renewTries(stateOf.exported)).toBe(stateOf.exported);
    expect(renewTries(stateOf.failed)).toBe(stateOf.failed);
  });

  it('never changes the stage, the uuid or what may have been paid', () => {
    for (const stage of stages) {
      const state = stateOf[stage];
      const renewed = renewTries(state);
      expect(renewed.stage).toBe<Stage>(stage);
      expect('uuid' in renewed && renewed.uuid).toBe('uuid' in state && state.uuid);
      expect(mayHaveLaunched(renewed)).toBe(mayHaveLaunched(state));
    }
  });
});

describe('elected', () => {
  it('leaves out the fields of one stage', () => {
    const { stage: _stage, prepared: _prepared, polls: _polls, ...rest } = stateOf.parsing;
    expect(elected(stateOf.parsing)).toEqual(rest);
  });
});
