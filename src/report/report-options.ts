import type { RunStatus } from '../engine/stores/run-status.js';
import type { SharedStore } from '../engine/stores/run-store.js';
import type { OptionShape } from '../platform/check-options.js';
import type { FilePermissions } from '../platform/files/file-system.js';
import { called, filePath, flag, listOf } from '../platform/option-kinds.js';

export type TakeJson = (json: string) => Promise<void>;

export interface RunReportsOptions {
  /**
   * The run's figures as JSON, by `summaryFileSchema`: a path, or a function for the text.
   * @default none
   */
  readonly summary?: string | TakeJson | undefined;
  /** Path of a page for people. @default none */
  readonly report?: string | undefined;
  /** Other files of the run, which these must not replace. */
  readonly besides?: readonly string[] | undefined;
  /** Whether the local service asks mail servers: then no advice suggests it. @default false */
  readonly asksNetwork?: boolean | undefined;
  /** Whether the run is shared. @default false */
  readonly isShared?: boolean | undefined;
  /**
   * Whether rows are chosen by email quality: then no advice suggests it.
   * @default false
   */
  readonly keepsQuality?: boolean | undefined;
  /** Whether a history keeps the results; a partial run is not compared. @default false */
  readonly hasHistory?: boolean | undefined;
  /** Whether runs update the output repeatedly: then the cost of the next one is always given. @default false */
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

/** A stopped run, besides the reason. */
export interface StoppedOptions {
  /** Its service, where neither its state nor its store knows it. @default unknown */
  readonly service?: string | undefined;
  readonly input: string;
  readonly output: string;
  /** Its state directory. @default none */
  readonly stateDir?: string | undefined;
  /** Its shared store. @default none */
  readonly store?: SharedStore | undefined;
  /** Launched credits before refunds, for a run without readable state. @default none */
  readonly launchedCredits?: RunStatus['launchedCredits'] | undefined;
  /** Its budget: where it is 0, no smaller batch fits. @default none */
  readonly maxCredits?: number | undefined;
  readonly noMoreOpenThan?: FilePermissions | undefined;
}

/** A finished run, besides its figures. */
export interface FinishedOptions {
  readonly noMoreOpenThan?: FilePermissions | undefined;
  /**
   * The code that stopped a `partial` run, from `onProgress` at `stopped`: it decides what to do next.
   * @default none
   */
  readonly stoppedBy?: string | undefined;
  /** Whether its output has replaced a longer one. @default false */
  readonly isEmptied?: boolean | undefined;
}

export type AdviceOptions = Omit<RunReportsOptions, 'summary' | 'report' | 'besides'> &
  Omit<FinishedOptions, 'noMoreOpenThan'>;
