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
import type { SharedStore } from '../../stores/run-store.js';
import type { CarriedRun, RunProgress } from '../reporting/run-progress.js';
import type { Preflight } from '../credits.js';
import type { Summary } from '../../summary/summary.js';

/** What a run and one that streams are asked for, whatever they keep. */
export interface ListOptions extends CountryOptions, DriveSettings, DoubtOptions {
  /** Where the enriched rows go: a path, an `s3:` URL, or a `Sink` of your own. */
  readonly sink: SinkInput;
  /**
   * Only so many rows from the first: a trial. Rows after them are not read. It decides the rows: an
   * unfinished run with another limit is one whose list has changed.
   * @default all
   */
  readonly limit?: number | undefined;
  /**
   * A verified cell with several addresses (`a@x.example; b@x.example`) becomes a row for each: the row is
   * repeated, and the cell holds one of them. Several columns with several go along by position.
   * @default false
   */
  readonly splitCells?: boolean | undefined;
  /**
   * Lists of addresses and domains that are never sent, such as an unsubscribe list: such a cell becomes
   * `not_submitted`, `suppressed`. It may change from call to call: what was paid for is not paid again.
   * @default none
   */
  readonly suppress?: readonly (string | URL | SuppressList)[] | undefined;
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number | undefined;
  /**
   * Results of earlier runs, opened for this service: an address that was verified lately is not sent
   * again. The results of this run enter it as soon as they are safe. The caller opens and closes it.
   * @default none
   */
  readonly history?: History | undefined;
  /** Aborts the run, which rejects with its reason; the same call later goes on. @default never */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with what happens: rows read and written, steps of batches, notices. When it throws, or a promise
   * of its is rejected, the run goes on to its end, and rejects with the first such error behind a complete
   * output; the same call again gives the summary, and pays nothing.
   * @default nothing is called
   */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  /** How the journal and the summary call the service. @default the client's base URL */
  readonly serviceName?: string | undefined;
}

/** The options of a run, before the compiler asks for a column and a country. */
export interface RunSettings<From extends SourceInput = SourceInput>
  extends SourceColumns<From>, ListOptions {
  /**
   * The service, or what connects to it once the state directory is this process's own, or the run in a
   * store is known not to be over; it is given a folder in the state directory, where an in-process local
   * service keeps its data. With a store the service is one that all processes reach.
   */
  readonly client: Client | ((servicePath: string) => Promise<Client>);
  /**
   * Where the run keeps what it needs to go on after a kill. Made when missing, removed at the end.
   * @default `<sink>.sluice` where the sink is a path (for an `s3:` URL in the current folder, under the
   *   object's name); must be given with any other sink
   */
  readonly stateDir?: string | undefined;
  /**
   * Where many processes, on whichever machines, work on one run: the same call in each, and any of them
   * may be killed. It takes the place of the state directory; `stateDir` is then the folder in which this
   * process has its batch files meanwhile (the system's for temporary files where it is not given).
   * @default none: the run is this process's own
   */
  readonly store?: SharedStore | undefined;
  /** Drop an unfinished run found in the state directory. @default false */
  readonly fresh?: boolean | undefined;
  /**
   * What becomes of an unfinished run when its list has changed: `carry` uses every result that was paid
   * for; `auto` does so when nothing was paid, when at least half of it is of use (with a smaller `limit`:
   * all of it, unless `onCarry` is there to be asked), or when a history keeps it, else `run()` rejects with
   * StateError `state_mismatch`; `stop` always rejects.
   * @default 'auto'
   */
  readonly onChange?: 'auto' | 'carry' | 'stop' | undefined;
  /**
   * Asked where `auto` would carry a run over although some of what was paid is of no use to the changed
   * list, and waited for: `false` makes `run()` reject, with nothing sent.
   * @default the run goes on
   */
  readonly onCarry?: ((carried: CarriedRun) => boolean | Promise<boolean>) | undefined;
  /**
   * The state directory was moved or restored, and no other process resumes a copy of it:
   * batches that are not on the service are sent again.
   * @default false: a copied state is resumed only where that cannot pay twice
   */
  readonly moved?: boolean | undefined;
  /**
   * After a run that ended with failed rows: send their addresses again and write the output again.
   * @default false
   */
  readonly retryFailed?: boolean | undefined;
  /**
   * When the service or the credits stop the run: write the output all the same, with the addresses
   * that have no result yet as `failed`, `not_finished`. The same call later completes it.
   * @default false
   */
  readonly partial?: boolean | undefined;
  /**
   * With a `store`, in place of `history`: opens it. The process that plans the list and the one that ends
   * the run open it, one after the other, and close it; while another process has it they wait.
   * @default none
   */
  readonly openHistory?: (() => Promise<History | undefined>) | undefined;
  /**
   * How many of the verified cells of a type may be unknown, in percent; when there are more, the rows go
   * to another sink, and the output is not touched.
   * @default any
   */
  readonly maxUnknown?: MaxUnknown | undefined;
  /**
   * Fewest rows that the list has: with fewer `run()` rejects with an InputError, `input_suspect`, before
   * anything is sent, and the output is not touched. A trial (`limit`) is not judged.
   * @default any
   */
  readonly minRows?: number | undefined;
  /**
   * How much smaller than the list of the last run that had rows this one may be, in percent; when it has
   * lost more, `run()` rejects as with `minRows`.
   * @default any
   */
  readonly maxShrink?: number | undefined;
  /**
   * Called for the rows that the list had before, where no `history` knows of an earlier run of it; gives
   * `undefined` where that is not known.
   * @default nothing is known
   */
  readonly rowsBefore?: (() => number | undefined | Promise<number | undefined>) | undefined;
  /**
   * Launch everything, then leave it to the service: `run()` rejects with DetachedError, and the same
   * call later collects. Where nothing is left to launch, it goes on to the end.
   * @default false
   */
  readonly detach?: boolean | undefined;
  /**
   * Called once everything is prepared, which is free, and waited for: whether it may be launched. When
   * it may not, `run()` rejects with DetachedError; the same call later asks again.
   * @default it may
   */
  readonly onPrepared?: ((preflight: Preflight) => boolean | Promise<boolean>) | undefined;
  /**
   * How long to wait while another process uses the state directory, or writes the same output file or
   * folder, in milliseconds. When that one has finished its run, this call begins one of its own, which pays for the list again where no `history` has it.
   * @default 0
   */
  readonly waitLockMs?: number | undefined;
  /** Delete each batch from the service after its results are safe on disk. @default false */
  readonly deleteBatches?: boolean | undefined;
  /**
   * Called when the output is complete, before the state directory is removed, and waited for. When it
   * throws, so does the run; the same call again gives the summary again, and pays nothing.
   * @default nothing is called
   */
  readonly onSummary?: ((summary: Summary) => void | Promise<void>) | undefined;
  /**
   * Called before the state directory is removed, and waited for: closes what you keep in it, such as a
   * local service.
   * @default nothing is called
   */
  readonly beforeRemoval?: (() => void | Promise<void>) | undefined;
  /**
   * Called with the last act of a run that is over, which is then yours to do: it removes the journal,
   * which says until then that everything is done. A process that ends with the run does it right before
   * it exits, so that one killed before that is not followed by a run that pays again.
   * @default it is done before `run()` resolves
   */
  readonly lastAct?: ((remove: () => Promise<void>) => void) | undefined;
  /**
   * Options of your own that decide the rows, such as the input's dialect: compared when a run goes on.
   * @default none
   */
  readonly decides?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: FileSystem | undefined;
  /**
   * From so many unique addresses on they are numbered on disk, which takes less memory.
   * @default 4,194,304
   */
  readonly partitionFrom?: number | undefined;
}

/** Only a sink that is a path or a URL has a place for the state beside it. */
type StateChoice = StateInStore | StateBesideSink | StateInFolder;

interface StateInStore {
  /** Where processes share the run. */
  readonly store: SharedStore;
}

interface StateBesideSink {
  /** Where the enriched rows go: a path, or an `s3:` URL. */
  readonly sink: string | URL;
}

interface StateInFolder {
  /** Where the run keeps what it needs to go on after a kill. */
  readonly stateDir: string;
}

/** What a run must be given, one way or another. */
export type RunChoice = TargetChoice & StateChoice;

/** @template From what the rows come from: where they are objects, their columns are known */
export type RunOptions<From extends SourceInput = SourceInput> = RunSettings<From> & RunChoice;

/** The options of a run whose places are found, with what holds where nothing is given. */
export interface ResolvedRun extends Omit<
  RunSettings,
  'source' | 'sink' | 'suppress' | 'stateDir' | 'store' | 'maxUnknown'
> {
  readonly source: Source;
  readonly sink: Sink;
  readonly maxUnknown?: ResolvedMaxUnknown | undefined;
  /** What is never sent. */
  readonly suppressed: Suppressed | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The options of a run that keeps nothing on disk. */
export type StreamRunOptions<From extends SourceInput = SourceInput> = StreamRunSettings<From> &
  TargetChoice;

export interface StreamRunSettings<From extends SourceInput = SourceInput>
  extends SourceColumns<From>, ListOptions {
  /** The service. */
  readonly client: Client;
  /**
   * Most rows that wait for their results in memory.
   * @default concurrency × batchSize + batchSize
   */
  readonly maxWaitingRows?: number | undefined;
  /**
   * Sends an open batch when its oldest row has waited so long, in milliseconds.
   * @default none
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * Deletes each batch from the service when its results have come and, with a history, are in it. What
   * stays all the same is named to `onProgress` (`left_behind`).
   * @default false
   */
  readonly deleteBatches?: boolean | undefined;
}

/** A cell that would be sent as something else than it holds. */
interface ChangedCell {
  /** Name of its column. */
  readonly column: string;
  readonly cell: string;
  readonly submitted: string;
}

/** The options of a run, as far as they decide what it would send. */
export type EstimateOptions<From extends SourceInput = SourceInput> = EstimateSettings<From> &
  TargetChoice;

/** What an estimate would ignore. */
export const onlyOfRuns = [
  'stateDir',
  'store',
  'openHistory',
  'lastAct',
  'detach',
  'deleteBatches',
  'minRows',
  'maxShrink',
  'rowsBefore',
] as const;

export type EstimateSettings<From extends SourceInput = SourceInput> = SourceColumns<From> &
  Omit<RunSettings, keyof SourceColumns | 'client' | 'sink' | (typeof onlyOfRuns)[number]> & {
    /** Where the rows would go: it is only asked whether it could take them. @default it is not asked */
    readonly sink?: SinkInput | undefined;
    /** The service, to be asked for the balance. @default it is not asked */
    readonly client?: Client | undefined;
    /** Called for each cell that would be sent in another form. @default nothing is called */
    readonly onChangedCell?: ((change: ChangedCell) => void) | undefined;
  };

export const changeWays = ['auto', 'carry', 'stop'] as const;

/** How many unknown verdicts a run may have. */
export interface MaxUnknown {
  /** Percent of the verified cells of a type, from 0 to 100. */
  readonly percent: number;
  /** Where the rows go when there are more. */
  readonly suspect: SinkInput;
}

interface ResolvedMaxUnknown extends MaxUnknown {
  readonly suspect: Sink;
}
