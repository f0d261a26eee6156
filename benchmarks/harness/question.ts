/** How much data a question is asked with. */
export interface Scale {
  readonly name: 'full' | 'quick';
  readonly rows: number;
  /** Rows of the largest list and megabytes of the largest upload, against which memory is held. */
  readonly manyRows: number;
  /** Rows of the lists that are plotted, up to one as large as the disk of most machines bears. */
  readonly listSizes: readonly [number, number, number, number, number];
  readonly uploadMegabytes: number;
  readonly delayMs: number;
  /** How often each task is run; its median counts. */
  readonly rounds: number;
}

export const scales: Readonly<Record<Scale['name'], Scale>> = {
  full: {
    name: 'full',
    rows: 1_000_000,
    manyRows: 10_000_000,
    listSizes: [10_000, 100_000, 2_000_000, 10_000_000, 40_000_000],
    uploadMegabytes: 1000,
    delayMs: 2000,
    rounds: 5,
  },
  quick: {
    name: 'quick',
    rows: 20_000,
    manyRows: 100_000,
    listSizes: [100, 200, 500, 1000, 2000],
    uploadMegabytes: 20,
    delayMs: 300,
    rounds: 1,
  },
};

/** What one run of a task gave. */
export interface Measured {
  /** What was done, in a hash and counts: all tasks of a question that share a `checkedAs` must agree. */
  readonly check: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface Task {
  /** Tasks with the same word must give the same check: the slow reference path is one of them. */
  readonly checkedAs: string;
  /** Run once and never timed: what it gives is right because it is simple. */
  readonly isReference?: boolean;
  run(scale: Scale): Promise<Measured>;
}

/** One line of the published table. */
export interface Figure {
  readonly what: string;
  readonly against: string;
  readonly value: number;
  /** What the value counts: `times`, `bytes an address`, … */
  readonly unit: string;
  /** What the value is held to; none for figures that are only published. */
  readonly target?: Target;
}

export interface Target {
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  readonly aim?: number;
}

/** Medians by task and name of value. */
export type Medians = (task: string, value: string) => number;

/** A question that a benchmark answers: tasks that are run in turn, each in a process of its own. */
export interface Question {
  /** What is asked, in a sentence. */
  readonly asks: string;
  /** How often its tasks are run, where the scale's number is too much. */
  readonly rounds?: number;
  /** Makes the data, untimed. */
  prepare(scale: Scale): Promise<void>;
  readonly tasks: Readonly<Record<string, Task>>;
  figures(medians: Medians, scale: Scale): readonly Figure[];
}
