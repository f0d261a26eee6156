import type { DriveSettings } from '../../driver/driver-options.js';
import type { Client } from '../../../client/client.js';
import type { Sink } from '../../../lists/rows/sink.js';
import type { Source } from '../../../lists/rows/source.js';
import type { SuppressList } from './read-suppressed.js';
import type { SinkInput, SourceInput, SourceColumns } from './source-and-sink.js';
import type { DoubtOptions } from '../../plan/column-quality.js';
import type { CountryOptions } from '../../plan/plan.js';
import type { Suppressed } from '../../plan/suppressed.js';
import type { Clock } from '../../../platform/waiting/clock.js';
import type { TargetChoice } from '../../streams/stream-options.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import type { History } from '../../history/history.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import type { SharedStore } from '../../stores/run-store.js';
import type { CarriedRun, RunProgress } from '../reporting/run-progress.js';
import type { Preflight } from '../credits.js';
import type { Summary } from '../../summary/summary.js';

/** Options of every run over a list, with or without state. */
export interface ListOptions extends CountryOptions, DriveSettings, DoubtOptions {
  /** Where the enriched rows go: a path, an `s3:` URL, or a `Sink` of your own. */
  readonly sink: SinkInput;
  /**
   * Most rows to read from the start: a trial. For an unfinished run, another limit is a changed list.
   * @default all
   */
  readonly limit?: number | undefined;
  /**
   * Splits a verified cell with several addresses (`a@x.example; b@x.example`) into a row for each: the row
   * is repeated, and the cell holds one of them. Further columns with several are split along, by position.
   * @default false
   */
  readonly splitCells?: boolean | undefined;
  /**
   * Lists of addresses and domains that are never sent, such as an unsubscribe list: their cells become
   * `not_submitted`, `suppressed`. The lists may change between calls: paid results are not paid again. A run
   * that began with lists is not resumed without any: StateError, `state_mismatch`, unless `onChange` is
   * `carry`. A list that holds no address is an InputError, `input_suspect`, before anything is sent.
   * @default none
   */
  readonly suppress?: readonly (string | URL | SuppressList)[] | undefined;
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number | undefined;
  /**
   * Results of earlier runs, opened for this service: an address verified recently is not sent again. The
   * run's results are added as soon as they are safe. The caller opens and closes it.
   * @default none
   */
  readonly history?: History | undefined;
  /** Aborts the run, which rejects with its reason; the same call later goes on. @default never */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with what happens: rows read and written, steps of batches, notices. When it throws or rejects,
   * the run continues to its end, and rejects with the first such error after a complete output; the same
   * call again gives the summary and pays nothing.
   * @default nothing is called
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  /** The service's name in the journal and the summary. @default the client's base URL */
  readonly serviceName?: string | undefined;
}

/** The options of a run, before the compiler asks for a column and a country. */
export interface RunSettings<From extends SourceInput = SourceInput>
  extends SourceColumns<From>, ListOptions {
  /**
   * The client, or a function that makes it once this process holds the state directory, or knows that the
   * shared run is unfinished; it gets a folder in the state directory for the data of an in-process local
   * service. With a store, all processes must reach the service.
   */
  readonly client: Client | ((servicePath: string) => Promise<Client>);
  /**
   * Folder of the state from which the run resumes after a kill. Created when missing, removed at the end.
   * @default `<sink>.sluice` where the sink is a path (for an `s3:` URL in the current folder, under the
   * object's name); required with any other sink
   */
  readonly stateDir?: string | undefined;
  /**
   * Store of a run shared by many processes on any machines: each makes the same call, and any may be killed.
   * It replaces the state directory; `stateDir` is then the folder for this process's batch files (by default
   * the system's temporary folder).
   * @default none: the run is not shared
   */
  readonly store?: SharedStore | undefined;
  /** Drops an unfinished run in the state directory. @default false */
  readonly fresh?: boolean | undefined;
  /**
   * What becomes of an unfinished run when its list has changed: `carry` uses every result that was paid
   * for; `auto` does so when nothing was paid, when at least half of it is of use, or when a history keeps it,
   * else `run()` rejects with StateError `state_mismatch`; `stop` always rejects.
   * @default 'auto'
   */
  readonly onChange?: 'auto' | 'carry' | 'stop' | undefined;
  /**
   * Called and awaited where `auto` would carry a run over although the changed list has no use for some paid
   * results: `false` makes `run()` reject with nothing sent.
   * @default the run continues
   */
  readonly onCarry?: ((carried: CarriedRun) => boolean | Promise<boolean>) | undefined;
  /**
   * Confirms that the state directory was moved or restored, and no other process resumes a copy: batches
   * missing on the service are sent again. With a store that has lost the beginning of the run: what the service has
   * of it is used.
   * @default false: a copy is resumed only where that cannot pay twice
   */
  readonly moved?: boolean | undefined;
  /**
   * After a run with failed rows: sends their addresses again and writes the output again.
   * @default false
   */
  readonly retryFailed?: boolean | undefined;
  /**
   * When the service or the credits stop the run, writes the output all the same, with addresses without a
   * result as `failed`, `not_finished`. The same call later completes it.
   * @default false
   */
  readonly partial?: boolean | undefined;
  /**
   * With a `store`, replaces `history`. The process that plans the list and the one that ends the run open it
   * in turn and close it; while another process has it they wait.
   * @default none
   */
  readonly openHistory?: (() => Promise<History | undefined>) | undefined;
  /**
   * The largest share of unknown verdicts of a type, in percent; beyond it the rows go to another sink, and
   * the output is not touched.
   * @default any
   */
  readonly maxUnknown?: MaxUnknown | undefined;
  /**
   * Fewest rows of the list: below it `run()` rejects with InputError `input_suspect` before anything is
   * sent, and the output is not touched. A trial (`limit`) is exempt.
   * @default any
   */
  readonly minRows?: number | undefined;
  /**
   * The largest loss of rows, in percent, since the last run that had any; beyond it `run()` rejects as with
   * `minRows`.
   * @default any
   */
  readonly maxShrink?: number | undefined;
  /**
   * Gives the list's earlier number of rows, where no `history` has an earlier run; `undefined` where
   * unknown.
   * @default unknown
   */
  readonly rowsBefore?: (() => number | undefined | Promise<number | undefined>) | undefined;
  /**
   * Launches everything, then leaves it to the service: `run()` rejects with DetachedError, and the same call
   * later collects. Where nothing is left to launch, it continues to the end.
   * @default false
   */
  readonly detach?: boolean | undefined;
  /**
   * Called and awaited once everything is prepared, which is free: returns whether to launch. If not, `run()`
   * rejects with DetachedError; the same call later asks again.
   * @default launches
   */
  readonly onPrepared?: ((preflight: Preflight) => boolean | Promise<boolean>) | undefined;
  /**
   * Longest wait for another process that uses the state directory, or writes the same output, in
   * milliseconds. When that one has finished, this call begins a run of its own, which pays for the list
   * again without a `history`.
   * @default 0
   */
  readonly waitLockMs?: number | undefined;
  /** Deletes each batch from the service once its results are safe on disk. @default false */
  readonly deleteBatches?: boolean | undefined;
  /**
   * Called and awaited when the output is complete, before the state directory is removed. When it throws, so
   * does the run; the same call again gives the summary and pays nothing.
   * @default nothing is called
   */
  readonly onSummary?: ((summary: Summary) => void | Promise<void>) | undefined;
  /**
   * Called and awaited before the state directory is removed: closes what you keep in it, such as a local
   * service. If it throws, the run warns with `before_removal_failed` and goes on.
   * @default nothing is called
   */
  readonly beforeRemoval?: (() => void | Promise<void>) | undefined;
  /**
   * Called with the last act of a finished run, which you then perform: it removes the journal, which until
   * then marks the run as done. A process that ends with the run does so right before it exits: if it is
   * killed earlier, the next run does not pay again.
   * @default it is done before `run()` resolves
   * @internal
   */
  readonly lastAct?: ((remove: () => Promise<void>) => void) | undefined;
  /**
   * Options of the command that decide the rows, such as the input's dialect: compared when a run continues.
   * @default none
   * @internal
   */
  readonly decides?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** The options of the command that it is, kept for who resumes it. @default none @internal */
  readonly command?: RunEntry['command'];
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: FileSystem | undefined;
  /**
   * From this number of unique addresses on they are numbered on disk, which takes less memory.
   * @default 4,194,304
   */
  readonly partitionFrom?: number | undefined;
}

/** In the order of names, as is `CountryChoice`. */
type StateChoice = StateBesideSink | StateByStore | StateInFolder;

interface StateBesideSink {
  /** Where the enriched rows go: a path, or an `s3:` URL. */
  readonly sink: string | URL;
}

interface StateByStore {
  /** The store of the shared run. */
  readonly store: SharedStore;
}

interface StateInFolder {
  /** Folder of the run's state. */
  readonly stateDir: string;
}

/** What a run must be given, one way or another. */
export type RunChoice = TargetChoice & StateChoice;

/** @template From the source: rows that are typed objects have known columns */
export type RunOptions<From extends SourceInput = SourceInput> = RunSettings<From> & RunChoice;

/** The options of a run with resolved source and sink, and every default. */
export interface ResolvedRun extends Omit<
  RunSettings,
  'source' | 'sink' | 'suppress' | 'stateDir' | 'store' | 'maxUnknown'
> {
  readonly source: Source;
  readonly sink: Sink;
  readonly maxUnknown?: ResolvedMaxUnknown | undefined;
  readonly suppressed: Suppressed | undefined;
  /** Whether it retries by itself, as the run before lacks paid results. */
  readonly isRetryImplied?: true;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What a run, or an estimate of it, is compared by with the run before. */
export interface ComparedRun extends Omit<
  ResolvedRun,
  'client' | 'sink' | 'concurrency' | 'clock'
> {
  readonly sink: Sink | undefined;
}

/** The options of a run that keeps nothing on disk. */
export type StreamRunOptions<From extends SourceInput = SourceInput> = StreamRunSettings<From> &
  TargetChoice;

export interface StreamRunSettings<From extends SourceInput = SourceInput>
  extends SourceColumns<From>, ListOptions {
  /** The client. */
  readonly client: Client;
  /**
   * Most rows waiting for their results in memory.
   * @default concurrency × batchSize + batchSize
   */
  readonly maxWaitingRows?: number | undefined;
  /**
   * Sends an open batch when its oldest row has waited this long, in milliseconds.
   * @default none
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * Deletes each batch from the service when its results have arrived and, with a history, are stored.
   * Undeleted ones are reported to `onProgress` (`left_behind`).
   * @default false
   */
  readonly deleteBatches?: boolean | undefined;
}

/** A cell that would be sent as something else. */
interface ChangedCell {
  /** Name of its column. */
  readonly column: string;
  readonly cell: string;
  readonly submitted: string;
}

/** The options of a run that decide what it would send. */
export type EstimateOptions<From extends SourceInput = SourceInput> = EstimateSettings<From> &
  TargetChoice;

/** Options that an estimate ignores. */
export const onlyOfRuns = ['openHistory', 'lastAct', 'detach'] as const;

export type EstimateSettings<From extends SourceInput = SourceInput> = SourceColumns<From> &
  Omit<RunSettings, keyof SourceColumns | 'client' | 'sink' | (typeof onlyOfRuns)[number]> & {
    /** The output: only checked whether it could take the rows. @default not checked */
    readonly sink?: SinkInput | undefined;
    /**
     * Folder of the run's state: an unfinished run in it is compared, and the estimate says what the run would
     * do with it. Nothing is locked or written there.
     * @default not compared
     */
    readonly stateDir?: string | undefined;
    /**
     * Store of a shared run of the same list: what it has not launched is counted. Nothing is joined.
     * @default the whole list is counted
     */
    readonly store?: SharedStore | undefined;
    /** The client, for the balance. @default no balance */
    readonly client?: Client | undefined;
    /** Called for each cell that would be sent as something else. @default nothing is called */
    readonly onChangedCell?: ((change: ChangedCell) => void) | undefined;
  };

export const changeWays = ['auto', 'carry', 'stop'] as const;

/** The limit of unknown verdicts. */
export interface MaxUnknown {
  /** Percent of the verified cells of a type, from 0 to 100. */
  readonly percent: number;
  /** Where the rows go beyond it. */
  readonly suspect: SinkInput;
}

interface ResolvedMaxUnknown extends MaxUnknown {
  readonly suspect: Sink;
}
