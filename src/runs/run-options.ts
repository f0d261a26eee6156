import type { DriveSettings } from '../batches/drive-all.js';
import type { Client } from '../client/client.js';
import type { SluiceError } from '../errors/sluice-error.js';
import type { Sink, TextColumn } from '../rows/sink.js';
import type { FoundHeader, Source } from '../rows/source.js';
import type { SinkInput, SourceInput } from './run-ends.js';
import type { ColumnChoice, ColumnOptions } from '../batches/column-layout.js';
import type { DoubtOptions } from '../batches/doubtful-columns.js';
import type { CountryChoice, CountryOptions } from '../batches/plan.js';
import type { VerifyProgress } from '../streams/verify-progress.js';
import type { FileSystem } from '../system/file-system.js';
import type { History } from './history/history.js';
import type { SharedStore } from './run-store.js';
import type { RunStatus } from './run-status.js';
import type { Preflight } from './preflight.js';
import type { Summary } from './summary.js';

/** The options of a run, before the compiler asks for a column and a country. */
export interface RunSettings extends ColumnOptions, CountryOptions, DriveSettings, DoubtOptions {
  readonly source: SourceInput;
  readonly sink: SinkInput;
  /**
   * Only so many rows from the first: a trial. Rows after them are not read. It decides the rows: an
   * unfinished run with another limit is one whose list has changed.
   * @default all
   */
  readonly limit?: number;
  /**
   * The service, or what connects to it once the state directory is this process's own; it is given a
   * folder in it, where an in-process local service keeps its data.
   */
  readonly client: Client | ((servicePath: string) => Promise<Client>);
  /**
   * Where the run keeps what it needs to go on after a kill. Made when missing, removed at the end.
   * @default `<sink>.sluice` where the sink is a path (for an `s3:` URL in the current folder, under the
   *   object's name); must be given with any other sink
   */
  readonly stateDir?: string;
  /**
   * Where many processes, on whichever machines, work on one run: the same call in each, and any of them
   * may be killed. It takes the place of the state directory; `stateDir` is then the folder in which this
   * process has its batch files meanwhile (the system's for temporary files where it is not given).
   * @default none: the run is this process's own
   */
  readonly store?: SharedStore;
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number;
  /** Drop an unfinished run found in the state directory. @default false */
  readonly fresh?: boolean;
  /**
   * What becomes of an unfinished run when its list has changed: `carry` uses every result that was paid
   * for; `auto` does so when nothing was paid, when at least half of it is of use, or when a history keeps
   * it, else `run()` rejects with StateError `state_mismatch`; `stop` always rejects.
   * @default 'auto'
   */
  readonly onChange?: 'auto' | 'carry' | 'stop';
  /**
   * The state directory was moved or restored, and no other process resumes a copy of it:
   * batches that are not on the service are sent again.
   * @default false: a copied state is resumed only where that cannot pay twice
   */
  readonly moved?: boolean;
  /**
   * After a run that ended with failed rows: send their addresses again and write the output again.
   * @default false
   */
  readonly retryFailed?: boolean;
  /**
   * When the service or the credits stop the run: write the output all the same, with the addresses
   * that have no result yet as `failed`, `not_finished`. The same call later completes it.
   * @default false
   */
  readonly partial?: boolean;
  /**
   * Results of earlier runs, opened for this service: an address that was verified lately is not sent
   * again. The results of this run enter it as soon as they are safe. Whoever opened it closes it.
   * @default none
   */
  readonly history?: History;
  /**
   * How many of the verified cells of a type may be unknown; when there are more, the rows go to
   * another sink, and the output is not touched.
   * @default any
   */
  readonly maxUnknown?: MaxUnknown;
  /**
   * Launch everything, then leave it to the service: `run()` rejects with DetachedError, and the same
   * call later collects. Where nothing is left to launch, it goes on to the end.
   * @default false
   */
  readonly detach?: boolean;
  /**
   * Called once everything is prepared, which is free, and waited for: whether it may be launched. When
   * it may not, `run()` rejects with DetachedError; the same call later asks again.
   * @default it may
   */
  readonly onPrepared?: (preflight: Preflight) => Promise<boolean>;
  /**
   * How long to wait while another process uses the state directory, in milliseconds.
   * @default 0
   */
  readonly waitLockMs?: number;
  /** Delete each batch from the service after its results are safe on disk. @default false */
  readonly deleteBatches?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: RunProgress) => void;
  /**
   * Called when the output is complete, before the state directory is removed, and waited for. When it
   * throws, so does the run; the same call again gives the summary again, and pays nothing.
   */
  readonly onSummary?: (summary: Summary) => Promise<void>;
  /** Called before the state directory is removed: whoever keeps something in it lets go of it. */
  readonly beforeRemoval?: () => Promise<void>;
  /**
   * Given the last act of a run that is over, instead of it being done before `run()` resolves: it
   * removes the journal, which says until then that everything is done. A process that ends with the
   * run does it as its own last act, so that one killed before that is not followed by a run that
   * pays again.
   */
  readonly lastAct?: (remove: () => Promise<void>) => void;
  /** How the journal and the summary call the service. @default the client's base URL */
  readonly serviceName?: string;
  /** Further options that decide the rows, such as the input's dialect: compared when a run goes on. */
  readonly decides?: Readonly<Record<string, string | number | boolean | null>>;
  readonly files?: FileSystem;
  /**
   * From so many unique addresses on they are numbered on disk, which takes less memory.
   * @default 4,194,304
   */
  readonly partitionFrom?: number;
}

/** Which columns are verified, and for which country: without either nothing can be sent. */
export type LaneChoice = ColumnChoice & CountryChoice;

export type RunOptions = RunSettings & LaneChoice;

/** The options of a run whose places are found. */
export type ResolvedRun = Omit<
  RunSettings,
  'source' | 'sink' | 'stateDir' | 'store' | 'maxUnknown'
> & {
  readonly source: Source;
  readonly sink: Sink;
  readonly stateDir: string;
  readonly maxUnknown?: ResolvedMaxUnknown;
};

/** The options of a run that keeps nothing on disk. */
export type StreamRunOptions = StreamRunSettings & LaneChoice;

export type StreamRunSettings = Omit<
  RunSettings,
  | 'client'
  | 'stateDir'
  | 'store'
  | 'fresh'
  | 'moved'
  | 'partitionFrom'
  | 'onChange'
  | 'retryFailed'
  | 'partial'
  | 'deleteBatches'
  | 'onSummary'
  | 'beforeRemoval'
  | 'lastAct'
  | 'files'
  | 'decides'
  | 'detach'
  | 'onPrepared'
  | 'waitLockMs'
  | 'maxUnknown'
> & {
  /** The service. */
  readonly client: Client;
  /**
   * Most rows that wait for their results in memory.
   * @default concurrency × batchSize + batchSize
   */
  readonly maxWaitingRows?: number;
  /**
   * Sends an open batch when its oldest row has waited so long, in milliseconds.
   * @default none
   */
  readonly maxWaitMs?: number;
};

/** A cell that would be sent as something else than it holds. */
export interface ChangedCell {
  /** Name of its column. */
  readonly column: string;
  readonly cell: string;
  readonly submitted: string;
}

/** The options of a run, as far as they decide what it would send. */
export type EstimateOptions = EstimateSettings & LaneChoice;

export type EstimateSettings = Omit<RunSettings, 'client' | 'stateDir' | 'store' | 'sink'> & {
  /** Where the rows would go: it is only asked whether it could take them. @default nobody is asked */
  readonly sink?: SinkInput;
  /** The service, to be asked for the balance. @default nobody is asked */
  readonly client?: Client;
  /** Called for each cell that would be sent in another form. @default nothing is called */
  readonly onChangedCell?: (change: ChangedCell) => void;
};

export const changeWays = ['auto', 'carry', 'stop'] as const;

export interface MaxUnknown {
  /** From 0 to 100. */
  readonly percent: number;
  /** Where the rows go instead. */
  readonly suspect: SinkInput;
}

export interface ResolvedMaxUnknown extends MaxUnknown {
  readonly suspect: Sink;
}

/** What a run reports while it works. */
export type RunProgress =
  /** A header that stands below other lines was found by the rows around it: nobody said where it is. */
  | ({ readonly stage: 'header_found' } & FoundHeader)
  /** The list has changed since a run that was not finished: what that has paid for is used. */
  | {
      readonly stage: 'carried';
      /** When that run began, as `2026-11-21T03:00:00.000Z`. */
      readonly startedAt: string;
      /** What has changed, in words. */
      readonly change: string;
      /** Batches that may be paid for. */
      readonly paidBatches: number;
      /** Those of them of which at least one address is in tonight's list. */
      readonly usedBatches: number;
      /** Addresses that may be paid for, those among them that an earlier list had brought. */
      readonly paidAddresses: number;
      /** Those of them that are in tonight's list: they are not paid for again. */
      readonly usedAddresses: number;
      /** Batches that were launched and are waited for. */
      readonly unfinished: number;
    }
  /** An unfinished run is gone on with, of which something was sent: said before anything else. */
  | { readonly stage: 'going_on'; readonly status: RunStatus }
  | { readonly stage: 'reading'; readonly rows: number; readonly addresses: number }
  | {
      readonly stage: 'read';
      readonly rows: number;
      readonly addresses: number;
      /** Addresses in the batches: those whose results nothing knows yet. */
      readonly toSend: number;
      readonly batches: number;
    }
  | Extract<VerifyProgress, { readonly stage: 'batch' }>
  /** A stop that `partial` turns into an output with rows that are not finished. */
  | { readonly stage: 'stopped'; readonly error: SluiceError }
  /** Uploads on the service that this run made and could not delete; their names. */
  | { readonly stage: 'left_behind'; readonly names: readonly string[] }
  /** The service has more of the run than the state directory knows: it is a copy, or an older one. */
  | {
      readonly stage: 'older_state';
      /** Whether it was copied or restored: another process may go on with the other copy. */
      readonly isCopied: boolean;
      /** Names of uploads that the state directory did not know, or not as launched; they are resumed. */
      readonly learned: readonly string[];
      /** Names of uploads that were launched beside those that are resumed; they stay. */
      readonly unused: readonly string[];
    }
  /** A column that the output cannot keep as it is: its cells become text. Comes before a batch is sent. */
  | ({ readonly stage: 'text_column' } & TextColumn)
  /** What the output has to say: what it waits for, or cannot notice. */
  | { readonly stage: 'notice'; readonly message: string }
  | { readonly stage: 'writing'; readonly rows: number }
  | { readonly stage: 'written'; readonly rows: number };
