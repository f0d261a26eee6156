import { cellOf, type Fault, type FileCall, type FilePlace, type Operation } from './fault.js';
import type { Life, World } from '../world.js';

type Of<Kind extends Fault['of']> = Extract<Fault, { readonly of: Kind }>;

/** The faults of one seed: when each is due, and which have happened. */
export class FaultPlan {
  readonly #world: World;
  readonly #faults: readonly Fault[];
  readonly #counts = new Map<string, number>();
  /** Requests so far, by operation. */
  readonly requests = new Map<Operation, number>();
  readonly #happened = new Set<Fault>();
  /** How often each cell was reached. */
  readonly reached = new Map<string, number>();
  /** How often any of them has happened. */
  noted = 0;
  #steps = 0;

  constructor(world: World, faults: readonly Fault[]) {
    this.#world = world;
    this.#faults = faults;
  }

  /** How many of the faults have happened. */
  get happened(): number {
    return this.#happened.size;
  }

  ofRequest(operation: Operation): Of<'network'>['what'] | undefined {
    const count = this.requests.get(operation) ?? 0;
    this.requests.set(operation, count + 1);
    const fault = this.#faults.find(
      (each): each is Of<'network'> =>
        each.of === 'network' &&
        each.stage === operation &&
        count >= each.nth &&
        count < each.nth + each.times,
    );
    if (!fault) return undefined;
    this.note(fault, '');
    return fault.what;
  }

  ofFile(place: FilePlace, call: FileCall): string | undefined {
    const count = this.#count(`${place}.${call}`);
    const fault = this.#faults.find(
      (each): each is Of<'file'> =>
        each.of === 'file' && each.place === place && each.call === call && count === each.nth,
    );
    if (!fault) return undefined;
    this.note(fault, '');
    return fault.code;
  }

  /** Counts a step of a process. */
  atStep(life: Life): 'crash' | 'abort' | undefined {
    const step = this.#steps++;
    const stepInStage = this.#count(`stage ${life.stage}`);
    const fault = this.#faults.find(
      (each): each is Of<'crash' | 'abort'> =>
        (each.of === 'crash' || each.of === 'abort') &&
        (each.stage === undefined
          ? each.nth === step
          : each.stage === life.stage && each.nth === stepInStage),
    );
    if (!fault) return undefined;
    this.note(fault, life.stage);
    return fault.of;
  }

  note(fault: Fault, stage: string): void {
    this.#happened.add(fault);
    this.noted += 1;
    const cell = cellOf(fault, stage);
    this.reached.set(cell, (this.reached.get(cell) ?? 0) + 1);
    if (this.#world.isTraced) this.#world.tell(`FAULT ${cell}`);
  }

  #count(what: string): number {
    const count = this.#counts.get(what) ?? 0;
    this.#counts.set(what, count + 1);
    return count;
  }
}
