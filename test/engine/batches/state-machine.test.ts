import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestStep } from '../../../src/engine/driver/batch-errors.js';
import {
  mayHaveLaunched,
  planned,
  renewTries,
  type BatchState,
} from '../../../src/engine/batches/batch-state.js';
import { learn, type BatchEvent } from '../../../src/engine/batches/transitions.js';
import { bounds } from '../../../src/client/batch-bounds.js';
import { before, nextStep, type Step } from '../../../src/engine/batches/state-machine.js';
import { allEvents, electedAs, eventsOf, stages, stateOf } from './any-event.js';

describe('nextStep', () => {
  it('follows the stage', () => {
    const steps = Object.fromEntries(stages.map((stage) => [stage, nextStep(stateOf[stage]).do]));
    expect(steps).toEqual({
      planned: 'upload',
      uploading: 'find',
      uploaded: 'prepare',
      parsing: 'read_status',
      ready: 'launch',
      launching: 'read_status',
      verifying: 'read_status',
      done: 'export',
      exported: 'nothing',
      split: 'nothing',
      failed: 'nothing',
    });
  });

  it('asks at once where nothing was asked before, and waits where an answer led nowhere', () => {
    const waits = (state: BatchState): unknown => Reflect.get(nextStep(state), 'wait');
    expect(waits(stateOf.planned)).toBe(false);
    expect(waits({ ...stateOf.planned, uploads: 1 })).toBe(true);
    expect(waits(stateOf.uploading)).toBe(false);
    expect(waits({ ...stateOf.uploading, looks: 1 })).toBe(true);
    expect(waits(stateOf.uploaded)).toBe(false);
    expect(waits({ ...stateOf.uploaded, misses: 1 })).toBe(true);
    expect(waits({ ...stateOf.uploaded, prepares: 1 })).toBe(true);
    expect(waits(stateOf.ready)).toBe(false);
    expect(waits(stateOf.done)).toBe(false);
    expect(waits({ ...stateOf.done, broken: 1 })).toBe(true);
    expect(waits({ ...stateOf.done, misses: 1 })).toBe(true);
  });

  it('waits before every reading of the status', () => {
    for (const stage of ['parsing', 'launching', 'verifying'] as const) {
      expect(nextStep(stateOf[stage])).toEqual({ do: 'read_status', wait: true });
    }
  });

  it('gives up what was tried often enough', () => {
    expect(nextStep({ ...stateOf.planned, uploads: bounds.uploads })).toEqual({ do: 'give_up' });
    expect(nextStep({ ...stateOf.ready, launches: bounds.launches })).toEqual({ do: 'give_up' });
    expect(nextStep({ ...stateOf.done, broken: bounds.exports })).toEqual({ do: 'give_up' });
  });
});

describe('before', () => {
  it('writes an upload down', () => {
    expect(before(planned, nextStep(planned))).toEqual({
      stage: 'uploading',
      attempt: 1,
      fresh: 0,
      uploads: 1,
      accepted: false,
      looks: 0,
    });
  });

  it('writes a launch down, doubts of earlier ones included', () => {
    const ready: BatchState = { ...stateOf.ready, launches: 2, doubt: true };
    expect(before(ready, nextStep(ready))).toEqual({
      ...electedAs,
      stage: 'launching',
      launches: 3,
      doubt: true,
      answeredError: false,
    });
  });

  it('has nothing to write down before what has no effect', () => {
    for (const stage of stages) {
      if (stage === 'planned' || stage === 'ready') continue;
      const state = stateOf[stage];
      expect(before(state, nextStep(state))).toBe(state);
    }
  });

  it('is the only way into a launch, and only from ready', () => {
    for (const stage of stages) {
      const into = before(stateOf[stage], { do: 'launch', wait: false });
      expect(into.stage === 'launching').toBe(stage === 'ready' || stage === 'launching');
      for (const event of allEvents) {
        if (stage !== 'launching') expect(learn(stateOf[stage], event).stage).not.toBe('launching');
      }
    }
  });
});

/** What a service may do to a batch's requests: events for each step, given in turn, over and over. */
type Behaviour = Readonly<Record<RequestStep, readonly BatchEvent[]>>;

type SideEffects = Record<RequestStep, number>;

interface LifeEnd {
  readonly state: BatchState;
  /**
   * `waiting`: only the deadline ends it. `stopped`: the driver throws what refused the request. `endless`:
   * it goes on and on.
   */
  readonly end: 'nothing' | 'give_up' | 'waiting' | 'stopped' | 'endless';
  readonly effects: SideEffects;
}

/** No counter goes as far: a life that takes so many steps without an effect only waits. */
const manySteps = 50;

/** No life that is bounded has as many steps. */
const tooManySteps = 100_000;

function live(behaviour: Behaviour, from: BatchState = planned): LifeEnd {
  const effects: SideEffects = {
    upload: 0,
    find: 0,
    prepare: 0,
    read_status: 0,
    launch: 0,
    export: 0,
  };
  const asked: SideEffects = { ...effects };
  let state = from;
  let sinceEffect = 0;
  for (let steps = 0; steps < tooManySteps; steps += 1) {
    const step = nextStep(state);
    const life = { state, effects };
    if (step.do === 'nothing' || step.do === 'give_up') return { ...life, end: step.do };
    state = before(state, step);
    effects[step.do] += 1;
    sinceEffect = step.do === 'read_status' || step.do === 'find' ? sinceEffect + 1 : 0;
    if (sinceEffect > manySteps) return { ...life, end: 'waiting' };
    const inTurn = behaviour[step.do];
    const event = inTurn[asked[step.do] % inTurn.length];
    if (event === undefined) throw new Error('a behaviour has events for every step');
    asked[step.do] += 1;
    state = learn(state, event);
    if ('status' in event && event.status === 'refused') return { ...life, state, end: 'stopped' };
  }
  return { state, effects, end: 'endless' };
}

/** A service without faults, and changes to it. */
function serviceWith(changes: Partial<Behaviour>): Behaviour {
  return {
    upload: [{ of: 'upload', status: 'ok', uuid: 'answered' }],
    find: [{ of: 'find', uuid: 'found' }],
    prepare: [{ of: 'prepare', status: 'ok' }],
    read_status: [
      { of: 'status', status: 'parsing_content' },
      { of: 'status', status: 'ready_for_verification' },
      { of: 'status', status: 'verification_ongoing' },
      { of: 'status', status: 'verification_done' },
    ],
    launch: [{ of: 'launch', status: 'ok' }],
    export: [{ of: 'export', result: 'safe' }],
    ...changes,
  };
}

/** Plain checks: `expect` would take most of the time of some hundred thousand of them. */
function checkBounded({ end, effects, state }: LifeEnd): void {
  const anew = 1 + bounds.fresh;
  const isBounded =
    end !== 'endless' &&
    effects.upload <= bounds.uploads * anew &&
    effects.prepare <= bounds.prepares * bounds.misses * anew &&
    effects.launch <= bounds.launches * anew &&
    effects.export <= bounds.exports * bounds.misses;
  if (!isBounded) throw new Error(`without bound: ${JSON.stringify(effects)}`);
  const isAtEnd = ['exported', 'failed', 'split'].includes(state.stage);
  if (end === 'nothing' && !isAtEnd) throw new Error(`nothing to do in ${state.stage}`);
  if (end === 'waiting' && nextStep(state).do !== 'read_status') {
    throw new Error(`${nextStep(state).do} for ever`);
  }
}

describe('a life', () => {
  it('without faults uploads, prepares, launches and exports once', () => {
    const { state, effects } = live(serviceWith({}));
    expect(state).toMatchObject({ stage: 'exported', uuid: 'answered', attempt: 1 });
    expect(effects).toEqual({
      upload: 1,
      find: 0,
      prepare: 1,
      read_status: 4,
      launch: 1,
      export: 1,
    });
  });

  it('is bounded whatever one answer each request gets for ever', () => {
    let lives = 0;
    for (const upload of eventsOf.upload)
      for (const find of eventsOf.find)
        for (const prepare of eventsOf.prepare)
          for (const status of eventsOf.read_status)
            for (const launch of eventsOf.launch)
              for (const export_ of eventsOf.export) {
                const life = live({
                  upload: [upload],
                  find: [find],
                  prepare: [prepare],
                  read_status: [status],
                  launch: [launch],
                  export: [export_],
                });
                checkBounded(life);
                lives += 1;
              }
    expect(lives).toBe(8 * 2 * 6 * 9 * 9 * 5);
  });

  it('is bounded whatever two answers take turns', () => {
    const pairsOf = (events: readonly BatchEvent[]): BatchEvent[][] =>
      events.flatMap((one) => events.map((other) => [one, other]));
    for (const read_status of pairsOf(eventsOf.read_status)) {
      for (const launch of pairsOf(eventsOf.launch)) {
        checkBounded(live(serviceWith({ read_status, launch })));
      }
      for (const prepare of pairsOf(eventsOf.prepare)) {
        checkBounded(live(serviceWith({ read_status, prepare })));
      }
      for (const export_ of pairsOf(eventsOf.export)) {
        checkBounded(live(serviceWith({ read_status, export: export_ })));
      }
    }
  });

  it('is bounded whatever any answers come in any order', () => {
    const anyNews = (step: RequestStep): fc.Arbitrary<BatchEvent[]> =>
      fc.array(fc.constantFrom(...eventsOf[step]), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(
        fc.record({
          upload: anyNews('upload'),
          find: anyNews('find'),
          prepare: anyNews('prepare'),
          read_status: anyNews('read_status'),
          launch: anyNews('launch'),
          export: anyNews('export'),
        }),
        (behaviour) => checkBounded(live(behaviour)),
      ),
      { numRuns: 2000 },
    );
  });
});

/** Definite answers to a launch: it was not carried out. */
const surelyNot: ReadonlySet<unknown> = new Set([
  'refused',
  'not_found',
  'not_ready_for_verification',
]);

/**
 * A batch, the events it gets, and beside it what only the service knows: which uuids may have been
 * launched. Written without a look at the machine's own notion of doubt.
 */
class Witness {
  state: BatchState = planned;
  readonly maybeLaunched = new Set<string>();
  launches = 0;
  /** The launch whose answer has not come yet, when it is the first that its uuid was given. */
  #firstLaunch: string | undefined;

  /** Takes the next step, up to its request. */
  step(): Step {
    const step = nextStep(this.state);
    if (step.do === 'nothing' || step.do === 'give_up') return step;
    this.#be(before(this.state, step));
    if (step.do === 'launch') this.#launch();
    return step;
  }

  take(event: BatchEvent): void {
    if (event.of === 'launch' && this.state.stage === 'launching') {
      if (surelyNot.has(event.status) && this.#firstLaunch !== undefined) {
        this.maybeLaunched.delete(this.#firstLaunch);
      }
      this.#firstLaunch = undefined;
    }
    if (event.of === 'status' && event.status.startsWith('verification') && this.#isReadable()) {
      // The service says so itself.
      if ('uuid' in this.state && this.state.uuid) this.maybeLaunched.add(this.state.uuid);
    }
    this.#be(learn(this.state, event));
  }

  /** Killed, and taken up again from what was written down. */
  restart(): void {
    this.#firstLaunch = undefined;
    this.#be(renewTries(this.state));
  }

  #isReadable(): boolean {
    return !['done', 'exported', 'failed'].includes(this.state.stage);
  }

  #launch(): void {
    const { state } = this;
    if (state.stage !== 'launching') throw new Error(`a launch in stage ${state.stage}`);
    this.launches += 1;
    this.#firstLaunch = this.maybeLaunched.has(state.uuid) ? undefined : state.uuid;
    this.maybeLaunched.add(state.uuid);
  }

  #be(state: BatchState): void {
    const wasUuid = 'uuid' in this.state ? this.state.uuid : undefined;
    if (this.maybeLaunched.size > 1) throw new Error('two uploads of one batch may be launched');
    if (this.maybeLaunched.size === 1) {
      if (state.stage === 'planned' || state.stage === 'uploading') {
        throw new Error(`goes back to ${state.stage} though it may be paid`);
      }
      if (state.uuid !== wasUuid || !this.maybeLaunched.has(String(state.uuid))) {
        throw new Error('another uuid than the one that may be paid');
      }
      if (!mayHaveLaunched(state)) throw new Error('takes what may be paid for unpaid');
    }
    this.state = state;
  }
}

/** What brings a batch on, or into the doubt that this is about. */
function likely(state: BatchState): BatchEvent {
  switch (state.stage) {
    case 'uploaded':
      return { of: 'prepare', status: 'ok' };
    case 'parsing':
    case 'verifying':
      return { of: 'status', status: 'ready_for_verification' };
    case 'ready':
    case 'launching':
      return { of: 'launch', status: 'lost' };
    case 'done':
      return { of: 'export', result: 'broken' };
    default:
      return { of: 'upload', status: 'ok', uuid: 'answered' };
  }
}

/** Mostly an answer to what was asked, at times any event at all. */
function pickEvent(step: RequestStep, state: BatchState, nextByte: () => number): BatchEvent {
  const choice = nextByte() < 16 ? allEvents : eventsOf[step];
  const event = choice[nextByte() % (choice.length * 2)] ?? likely(state);
  if (!('uuid' in event) || event.uuid === undefined) return event;
  // Of each upload there may be two.
  return { ...event, uuid: `${state.attempt}-${nextByte() & 1}` };
}

/** Bytes without end from a seed (mulberry32): arbitraries of their own would take all the time. */
function bytesFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed >>> 8) & 0xff;
  };
}

describe('any sequence of event', () => {
  it('never lets a second upload be launched, and never sends anew what may be paid', () => {
    let launches = 0;
    let repeated = 0;
    const liveBy = (nextByte: () => number): void => {
      const witness = new Witness();
      for (let left = 30; left > 0; left -= 1) {
        const step = witness.step();
        if (step.do === 'nothing') break;
        if (step.do === 'give_up' || nextByte() < 6) witness.restart();
        else witness.take(pickEvent(step.do, witness.state, nextByte));
      }
      launches += witness.launches;
      if (witness.launches > 1) repeated += 1;
    };
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        for (let life = 0; life < 150; life += 1) liveBy(bytesFrom(seed + life));
      }),
    );
    // The sequences do reach what they are about.
    expect(launches).toBeGreaterThan(15_000);
    expect(repeated).toBeGreaterThan(3000);
  });

  it('has a stage for every event in every stage', () => {
    for (const stage of stages) {
      for (const event of allEvents) {
        const state = learn(stateOf[stage], event);
        expect(stages).toContain(state.stage);
        expect(nextStep(state)).toHaveProperty('do');
      }
    }
  });
});
