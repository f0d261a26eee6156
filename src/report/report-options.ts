import type { RunStatus } from '../engine/stores/run-status.js';
import type { SharedStore } from '../engine/stores/run-store.js';
import type { OptionShape } from '../platform/check-options.js';
import type { FilePermissions } from '../platform/files/file-system.js';
import { called, filePath, flag, listOf } from '../platform/option-kinds.js';

export type TakeJson = (json: string) => Promise<void>;

export interface RunReportsOptions {
  /**
   * The run's figures as JSON, in the form of `summaryFileSchema`: a path, or what takes the text.
   * @default none
   */
  readonly summary?: string | TakeJson | undefined;
  /** Path of a page for people. @default none */
  readonly report?: string | undefined;
  /** Files of the same run, whose places these must not take. */
  readonly besides?: readonly string[] | undefined;
  /** Whether the local service asks mail servers: then no advice says that it could. @default false */
  readonly asksNetwork?: boolean | undefined;
  /** Whether the run is in a store that other processes share with this one. @default false */
  readonly isShared?: boolean | undefined;
  /**
   * Whether rows are written by the quality of their emails: then no advice says that they could be.
   * @default false
   */
  readonly keepsQuality?: boolean | undefined;
  /** Whether a history keeps the results: a run of a part of a list is compared with none. @default false */
  readonly hasHistory?: boolean | undefined;
  /** Whether runs update the output again and again: what the next one pays for is always said. @default false */
  readonly isRepeated?: boolean | undefined;
}

export const reportOptionShape: OptionShape<RunReportsOptions> = {
  summary: {
    what: 'the path of a file, or a function that takes the text',
    isRight: (value) => filePath.isRight(value) || called.isRight(value),
  },
  report: filePath,
  besides: listOf(filePath),
  asksNetwork: flag,
  isShared: flag,
  keepsQuality: flag,
  hasHistory: flag,
  isRepeated: flag,
};

/** What is known of a run that stopped, besides why. */
export interface StoppedOptions {
  readonly input: string;
  readonly output: string;
  /** Where it keeps what it needs to go on. @default it keeps nothing */
  readonly stateDir?: string | undefined;
  /** The store that other processes share with it. @default none */
  readonly store?: SharedStore | undefined;
  /** Credits that it has launched, before refunds: for a run of which nothing can be read. @default none */
  readonly launchedCredits?: RunStatus['launchedCredits'] | undefined;
  /** New files are no more open than that. */
  readonly noMoreOpenThan?: FilePermissions | undefined;
}

/** What is known of a run that went to its end, besides its figures. */
export interface FinishedOptions extends Pick<StoppedOptions, 'noMoreOpenThan'> {
  /**
   * The code of what stopped a run with `partial`, which `onProgress` gets at `stopped`: what to do next
   * follows from it. @default none
   */
  readonly stoppedBy?: string | undefined;
  /** Whether its output has replaced one that was longer: a list without rows says so. @default false */
  readonly isEmptied?: boolean | undefined;
}

/** What decides the advice beside the figures. */
export type AdviceOptions = Omit<RunReportsOptions, 'summary' | 'report' | 'besides'> &
  Omit<FinishedOptions, 'noMoreOpenThan'>;
