import { describe, expect, it } from 'vitest';
import {
  isPrepared,
  mayHaveLaunched,
  planned,
  renewTries,
  type BatchState,
} from '../../../src/engine/batches/batch-state.js';
import { learn, type BatchEvent } from '../../../src/engine/batches/transitions.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import { before, nextStep } from '../../../src/engine/batches/state-machine.js';
import { allEvents, electedAs, stages, stateOf } from './any-event.js';

/** Takes one piece of event after the other. */
function learnAll(state: BatchState, ...event: readonly BatchEvent[]): BatchState {
  return event.reduce(learn, state);
}

function times<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}

const status = (word: string): BatchEvent => ({ of: 'status', status: word });
const launch = (word: string): BatchEvent => ({ of: 'launch', status: word });
const prepare = (word: string): BatchEvent => ({ of: 'prepare', status: word });
const missing: BatchEvent = { of: 'missing' };
const onItsWay = ['uploaded', 'parsing', 'ready', 'launching', 'verifying'] as const;

describe('an unknown word', () => {
  it.each(['queued', '', 'READY_FOR_VERIFICATION', '__proto__', 'verification_', 'failed'])(
    'as the status (%o) changes nothing in any stage',
    (word) => {
      for (const stage of stages) expect(learn(stateOf[stage], status(word))).toBe(stateOf[stage]);
    },
  );

  it('as the status says at least that the batch is there', () => {
    for (const stage of onItsWay) {
      const known = { ...stateOf[stage], misses: 9 };
      expect(learn(known, status('queued'))).toEqual(stateOf[stage]);
    }
  });

  it('as the answer to a launch leaves it to the status', () => {
    const state = learn(stateOf.launching, launch('accepted'));
    expect(state).toEqual({ ...stateOf.launching, doubt: true });
    expect(nextStep(state)).toEqual({ do: 'read_status', wait: true });
  });

  it('as the answer to a preparation leaves it to the status, and fails nothing in the end', () => {
    let state: BatchState = stateOf.uploaded;
    for (let asked = 1; asked < bounds.prepares; asked += 1) {
      state = learn(state, prepare('queued'));
      expect(state).toMatchObject({ stage: 'parsing', prepared: false, prepares: asked });
      state = learnAll(state, ...times(bounds.pollsUnprepared, status('parsing_content')));
      expect(state.stage).toBe('uploaded');
    }
    state = learn(state, prepare('queued'));
    // From here on only the deadline ends it.
    expect(learnAll(state, ...times(1000, status('parsing_content')))).toBe(state);
    expect(learn(state, status('ready_for_verification')).stage).toBe('ready');
  });
});

describe('event that do not belong to the stage', () => {
  it('change nothing at an end', () => {
    for (const event of allEvents) {
      expect(learn(stateOf.exported, event)).toBe(stateOf.exported);
      expect(learn(stateOf.split, event)).toBe(stateOf.split);
      expect(learn(stateOf.failed, event)).toBe(stateOf.failed);
    }
  });

  it('change nothing', () => {
    const listened: Readonly<Record<BatchEvent['of'], readonly string[]>> = {
      upload: ['uploading'],
      too_large: ['planned', 'uploading', 'uploaded'],
      find: ['uploading'],
      prepare: ['uploaded'],
      status: onItsWay,
      launch: ['launching'],
      export: ['done'],
      missing: [...onItsWay, 'done'],
      another: ['uploaded', 'parsing', 'ready'],
      twice: ['uploaded', 'parsing', 'ready'],
      overdue: onItsWay,
      unread: [],
      unfetched: ['done'],
    };
    for (const stage of stages) {
      for (const event of allEvents) {
        if (listened[event.of].includes(stage)) continue;
        // Results that were there may be lost with their batch, or by a service that was restored.
        if (stage === 'done' && event.of === 'status') continue;
        expect(learn(stateOf[stage], event)).toBe(stateOf[stage]);
      }
    }
  });
});

describe("a uuid that seems to be another upload's", () => {
  it('is looked for by name, while the answer to the upload alone has told it', () => {
    const looking = { ...stateOf.uploading, uploads: stateOf.ready.uploads };
    expect(learn(stateOf.ready, { of: 'another' })).toEqual(looking);
  });

  it('is kept where the list has told it, or a launch of it may have been paid', () => {
    for (const known of [
      { ...stateOf.ready, isFound: true },
      { ...stateOf.ready, doubt: true },
      { ...stateOf.ready, launches: 1 },
    ]) {
      expect(learn(known, { of: 'another' })).toBe(known);
    }
  });
});

describe('a batch that is too large', () => {
  const tooLarge = (addresses: number): BatchEvent => ({ of: 'too_large', addresses });

  it.each(['planned', 'uploading'] as const)('is split when it is %s', (stage) => {
    const { attempt, fresh, uploads } = stateOf[stage];
    const split = { stage: 'split', attempt, fresh, uploads, uuid: undefined };
    expect(learn(stateOf[stage], tooLarge(2))).toEqual(split);
  });

  it('is split when its preparation says so, and its upload is remembered', () => {
    expect(learn(stateOf.uploaded, tooLarge(9))).toMatchObject({
      stage: 'split',
      uuid: 'answered',
    });
  });

  it('is never split when a launch of it may have been paid', () => {
    const doubted = { ...stateOf.uploaded, doubt: true };
    expect(learn(doubted, tooLarge(9))).toBe(doubted);
  });

  it('fails when it is a single line', () => {
    expect(learn(stateOf.uploading, tooLarge(1))).toMatchObject({
      stage: 'failed',
      reason: 'too_large',
      launched: false,
    });
  });

  it('has nothing to do once it is split', () => {
    expect(nextStep(stateOf.split)).toEqual({ do: 'nothing' });
    expect(renewTries(stateOf.split)).toBe(stateOf.split);
    expect(mayHaveLaunched(stateOf.split)).toBe(false);
    expect(isPrepared(stateOf.split)).toBe(false);
  });
});

describe('an upload', () => {
  const uploading = stateOf.uploading;

  it('is elected by the uuid of its answer', () => {
    expect(learn(uploading, { of: 'upload', status: 'ok', uuid: 'answered' })).toEqual({
      ...electedAs,
      stage: 'uploaded',
    });
  });

  it('is looked for in the list when its answer names no uuid, or is lost', () => {
    const accepted = learn(uploading, { of: 'upload', status: 'ok', uuid: undefined });
    const lost = learn(uploading, { of: 'upload', status: 'unknown' });
    expect(accepted).toEqual({ ...uploading, accepted: true });
    expect(lost).toBe(uploading);
    for (const state of [accepted, lost]) {
      expect(nextStep(state)).toEqual({ do: 'find', wait: false });
      expect(learn(state, { of: 'find', uuid: 'listed' })).toEqual({
        ...electedAs,
        stage: 'uploaded',
        uuid: 'listed',
        isFound: true,
      });
    }
  });

  it.each([
    [false, bounds.looksForMissingUpload],
    [true, bounds.looksForAcceptedUpload],
  ])('that no list shows (accepted: %s) is sent anew, under a new name', (accepted, looks) => {
    const none: BatchEvent = { of: 'find', uuid: undefined };
    const state = learnAll({ ...uploading, accepted }, ...times(looks - 1, none));
    expect(state).toEqual({ ...uploading, accepted, looks: looks - 1 });
    // What the list lacks though it was accepted is sent once more alone.
    const uploads = accepted ? bounds.uploads - 1 : 1;
    expect(learn(state, none)).toEqual({ stage: 'planned', attempt: 2, fresh: 0, uploads });
  });

  it('that was answered with error is sent anew a few times, then the batch fails', () => {
    let state: BatchState = planned;
    for (let sent = 1; sent <= bounds.uploads; sent += 1) {
      state = before(state, nextStep(state));
      expect(state).toMatchObject({ stage: 'uploading', attempt: sent });
      state = learn(state, { of: 'upload', status: 'error' });
    }
    expect(state).toMatchObject({
      stage: 'failed',
      reason: 'upload_error',
      uuid: undefined,
      launched: false,
    });
  });

  it('whose answers are lost again and again is given up for now, not failed', () => {
    let state: BatchState = planned;
    while (nextStep(state).do === 'upload') {
      state = before(state, nextStep(state));
      const none = times<BatchEvent>(bounds.looksForMissingUpload, { of: 'find', uuid: undefined });
      state = learnAll(state, { of: 'upload', status: 'unknown' }, ...none);
    }
    expect(nextStep(state)).toEqual({ do: 'give_up' });
    expect(state).toMatchObject({ stage: 'planned', attempt: 1 + bounds.uploads });
  });

  it('that was refused was never sent', () => {
    const state = learn(uploading, { of: 'upload', status: 'refused' });
    expect(state).toEqual({ stage: 'planned', attempt: 1, fresh: 0, uploads: 1 });
  });

  it('with a parse error fails the batch', () => {
    expect(learn(uploading, { of: 'upload', status: 'parse_error' })).toMatchObject({
      stage: 'failed',
      reason: 'parse_error',
      launched: false,
    });
  });
});

describe('a preparation', () => {
  it('answered with ok is waited for as long as it takes', () => {
    const state = learn(stateOf.uploaded, prepare('ok'));
    expect(state).toEqual(stateOf.parsing);
    expect(learnAll(state, ...times(1000, status('parsing_content')))).toBe(state);
  });

  it('answered with error may be under way already: the status decides', () => {
    const state = learn(stateOf.uploaded, prepare('error'));
    expect(state).toMatchObject({ stage: 'parsing', prepared: false, prepares: 1 });
    expect(learn(state, status('ready_for_verification')).stage).toBe('ready');
    expect(learn(state, status('verification_ongoing')).stage).toBe('verifying');
    expect(learn(state, status('verification_done')).stage).toBe('done');
  });

  it('answered with error for ever fails the batch, unpaid', () => {
    let state: BatchState = stateOf.uploaded;
    let asked = 0;
    while (state.stage === 'uploaded') {
      asked += 1;
      const idle = times(bounds.pollsUnprepared, status('parsing_content'));
      state = learnAll(state, prepare('error'), ...idle);
    }
    expect(asked).toBe(bounds.prepares);
    expect(state).toMatchObject({ stage: 'failed', reason: 'prepare_error', launched: false });
  });

  it('with a parse error fails the batch', () => {
    expect(learn(stateOf.uploaded, prepare('parse_error'))).toMatchObject({
      stage: 'failed',
      reason: 'parse_error',
      uuid: 'answered',
    });
  });
});

describe('a launch', () => {
  it.each(['ok', 'verification_already_ongoing', 'verification_already_done'])(
    'answered with %s runs, and its status tells the rest',
    (word) => {
      expect(learn(stateOf.launching, launch(word))).toEqual(stateOf.verifying);
    },
  );

  it.each(['lost', 'error', 'accepted'])(
    'answered with %s is settled by the status before any other launch',
    (word) => {
      const state = learn(stateOf.launching, launch(word));
      expect(state.stage).toBe('launching');
      expect(nextStep(state)).toEqual({ do: 'read_status', wait: true });
      expect(learn(state, status('verification_ongoing')).stage).toBe('verifying');
      expect(learn(state, status('verification_done')).stage).toBe('done');
      const again = learn(state, status('ready_for_verification'));
      expect(again).toMatchObject({ stage: 'ready', uuid: 'answered', doubt: true, launches: 1 });
      expect(mayHaveLaunched(again)).toBe(true);
    },
  );

  it.each(['refused', 'not_found', 'not_ready_for_verification'])(
    'answered with %s was surely not carried out',
    (word) => {
      expect(mayHaveLaunched(learn(stateOf.launching, launch(word)))).toBe(false);
      const doubted = learn({ ...stateOf.launching, doubt: true }, launch(word));
      expect(mayHaveLaunched(doubted)).toBe(true);
    },
  );

  it('refused for the money is ready to be asked for again', () => {
    expect(learn(stateOf.launching, launch('refused'))).toEqual({
      ...stateOf.ready,
      launches: 1,
    });
  });

  it('that is not ready goes back to polling, a bounded number of times', () => {
    let state: BatchState = stateOf.ready;
    let asked = 0;
    while (state.stage !== 'failed') {
      state = before(state, nextStep(state));
      asked += 1;
      state = learn(state, launch('not_ready_for_verification'));
      if (state.stage === 'failed') break;
      expect(state).toMatchObject({ stage: 'parsing' });
      state = learnAll(state, status('parsing_content'), status('ready_for_verification'));
    }
    expect(asked).toBe(bounds.launches);
    expect(state).toMatchObject({ reason: 'launch_error', launched: false });
  });

  it('that is not ready is prepared again when nothing moves, unless an earlier one is in doubt', () => {
    const idle = times(bounds.pollsUnprepared, status('parsing_content'));
    const notReady = launch('not_ready_for_verification');
    expect(learnAll(stateOf.launching, notReady, ...idle).stage).toBe('uploaded');
    const doubted = { ...stateOf.launching, doubt: true };
    expect(learnAll(doubted, notReady, ...idle)).toMatchObject({ stage: 'parsing', doubt: true });
  });

  it('answered with error for ever fails the batch, only after its status was read', () => {
    let state: BatchState = stateOf.ready;
    let asked = 0;
    while (state.stage === 'ready') {
      state = learn(before(state, nextStep(state)), launch('error'));
      asked += 1;
      expect(state.stage).toBe('launching');
      state = learn(state, status('ready_for_verification'));
    }
    expect(asked).toBe(bounds.launches);
    expect(state).toMatchObject({ stage: 'failed', reason: 'launch_error', launched: true });
  });

  it('whose answers are lost again and again is given up for now, not failed', () => {
    let state: BatchState = stateOf.ready;
    while (nextStep(state).do === 'launch') {
      state = learn(before(state, nextStep(state)), launch('lost'));
      state = learn(state, status('ready_for_verification'));
    }
    expect(nextStep(state)).toEqual({ do: 'give_up' });
    expect(state).toMatchObject({ stage: 'ready', doubt: true, launches: bounds.launches });
  });

  it('that the service has forgotten after its yes is asked for once more, for the same uuid', () => {
    const ready = status('ready_for_verification');
    const once = learnAll(stateOf.verifying, ...times(bounds.readiesAfterLaunch - 1, ready));
    expect(once.stage).toBe('verifying');
    expect(learn(once, status('verification_ongoing'))).toEqual(stateOf.verifying);
    expect(learn(once, ready)).toMatchObject({ stage: 'ready', uuid: 'answered', doubt: true });
  });

  it('that is reported to be parsing waits until it is ready, in doubt', () => {
    const state = learn(stateOf.launching, status('parsing_content'));
    expect(state).toMatchObject({ stage: 'parsing', prepared: true, doubt: true });
  });
});

describe('a running batch', () => {
  it('is not written down anew for every poll', () => {
    expect(learn(stateOf.verifying, status('verification_ongoing'))).toBe(stateOf.verifying);
  });

  it('is not set back by a lagging answer', () => {
    expect(learn(stateOf.verifying, status('parsing_content'))).toBe(stateOf.verifying);
  });
});

describe('a batch that is not found', () => {
  it.each([...onItsWay, 'done'] as const)('for a moment stays in stage %s', (stage) => {
    const state = learnAll(stateOf[stage], ...times(bounds.misses - 1, missing));
    expect(state).toEqual({ ...stateOf[stage], misses: bounds.misses - 1 });
  });

  it('now and then is not lost', () => {
    const polls = [...times(bounds.misses - 1, missing), status('parsing_content')];
    const state = learnAll(stateOf.parsing, ...times(20, polls).flat());
    expect(state).toEqual(stateOf.parsing);
  });

  it.each(['uploaded', 'parsing', 'ready'] as const)(
    'in stage %s was never paid: it is uploaded anew, once',
    (stage) => {
      const lost = times(bounds.misses, missing);
      expect(learnAll(stateOf[stage], ...lost)).toEqual({
        stage: 'planned',
        attempt: 2,
        fresh: 1,
        uploads: 0,
      });
      expect(learnAll({ ...stateOf[stage], fresh: bounds.fresh }, ...lost)).toMatchObject({
        stage: 'failed',
        reason: 'batch_missing',
        launched: false,
      });
      expect(learnAll({ ...stateOf[stage], doubt: true }, ...lost)).toMatchObject({
        stage: 'failed',
        reason: 'batch_missing',
        launched: true,
      });
    },
  );

  it.each(['launching', 'verifying', 'done'] as const)(
    'in stage %s may be paid: it fails and is never sent again',
    (stage) => {
      expect(learnAll(stateOf[stage], ...times(bounds.misses, missing))).toMatchObject({
        stage: 'failed',
        reason: 'batch_missing',
        uuid: 'answered',
        launched: true,
      });
    },
  );

  it('by its launch was deleted before it: it may be uploaded anew', () => {
    const state = learn(stateOf.launching, launch('not_found'));
    expect(state).toMatchObject({ stage: 'parsing', misses: 1, doubt: false });
    expect(learnAll(state, ...times(bounds.misses - 1, missing))).toMatchObject({
      stage: 'planned',
      fresh: 1,
    });
  });
});

describe('an internal error', () => {
  const broken = status('internal_error');

  it('before the launch is answered with one fresh upload', () => {
    const state = learn(stateOf.parsing, broken);
    expect(state).toEqual({ stage: 'planned', attempt: 2, fresh: 1, uploads: 0 });
    expect(learn({ ...stateOf.parsing, attempt: 2, fresh: 1 }, broken)).toMatchObject({
      stage: 'failed',
      reason: 'internal_error',
      uuid: 'answered',
      launched: false,
    });
  });

  it.each(['launching', 'verifying', 'done'] as const)('in stage %s fails the batch', (stage) => {
    expect(learn(stateOf[stage], broken)).toMatchObject({
      stage: 'failed',
      reason: 'internal_error',
      uuid: 'answered',
      launched: true,
    });
  });

  it('fails a batch that stepped back while an earlier launch is in doubt', () => {
    expect(learn({ ...stateOf.parsing, doubt: true }, broken)).toMatchObject({
      stage: 'failed',
      launched: true,
    });
  });
});

describe('an export', () => {
  it('that is safe ends the batch', () => {
    expect(learn(stateOf.done, { of: 'export', result: 'safe' })).toEqual(stateOf.exported);
  });

  it('that stays broken is given up for now, and what is paid is never failed', () => {
    const broken: BatchEvent = { of: 'export', result: 'broken' };
    const state = learnAll(stateOf.done, ...times(bounds.exports, broken));
    expect(state).toEqual({ ...stateOf.done, broken: bounds.exports });
    expect(nextStep(state)).toEqual({ do: 'give_up' });
  });

  it('that stays broken fails the batch where nothing fetches it later', () => {
    expect(learn(stateOf.done, { of: 'unfetched' })).toMatchObject({
      stage: 'failed',
      reason: 'export_incomplete',
      uuid: 'answered',
      launched: true,
    });
    expect(learn(stateOf.verifying, { of: 'unfetched' })).toBe(stateOf.verifying);
  });
});
