import type { VerificationService } from '../../client/client.js';
import type { OptionShape } from '../../platform/check-options.js';
import {
  amount,
  called,
  count,
  flag,
  required,
  signal,
  type Needed,
} from '../../platform/option-kinds.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { Batch } from '../batches/batch.js';
import type { BatchProgress, BatchStage } from '../batches/claim.js';
import type { ColumnChoice, ColumnOptions } from '../columns/column-layout.js';
import {
  type DriveSettings,
  aClient,
  aHistory,
  columnShape,
  countryShape,
  driveShape,
} from '../driver/driver-options.js';
import type { CountryChoice, CountryOptions } from '../plan/plan.js';
import type { ResultHistory } from '../plan/result-cache.js';
import type { ExportOpener } from '../plan/result-join.js';
import type { Row } from '../../lists/rows/chunks/object-chunk.js';
import type {
  PhoneColumn,
  TextColumn,
  EnrichedRow,
  OpenFields,
  RowStream,
  SureFields,
} from './enriched-row.js';
import type { CountryCode } from '../../contract/countries.js';
import type { AddedField } from '../columns/added-fields.js';

/** How rows are divided into batches, and how many wait for results. */
export interface StreamPlanOptions extends ColumnOptions, CountryOptions {
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number | undefined;
  /**
   * Most batches on the service at once, from upload until verified.
   * @default 4
   */
  readonly concurrency?: number | undefined;
  /**
   * Most rows waiting for their results in memory.
   * @default (`concurrency` + 1) × `batchSize`
   */
  readonly maxWaitingRows?: number | undefined;
  /**
   * Most bytes of waiting rows; those of a row object are estimated, some 350 for 8 short cells.
   * @default 512 MiB
   */
  readonly maxWaitingBytes?: number | undefined;
  /**
   * Sends an open batch when its oldest row has waited this long, in milliseconds: for sources that pause or
   * never end.
   * @default none
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * Results of earlier runs, opened for this service: an address verified recently is not sent again. New
   * results are stored before their rows come out. The caller opens and closes it.
   * @default none
   */
  readonly history?: ResultHistory | undefined;
  /** Clock for `maxWaitMs`, for tests. @default the system's */
  readonly clock?: Clock | undefined;
}

/** How batches are sent and their results fetched. */
export interface DriveBatchesOptions extends DriveSettings {
  /** The client. */
  readonly client: VerificationService;
  /**
   * Called with each change of a batch: `state` with its `stage`, `uuid` and `reason`, and `charge`.
   * @default nothing is called
   */
  readonly onBatch?: ((progress: BatchProgress) => void) | undefined;
  /**
   * Called at the end with the names of useless uploads that could not be deleted: their answers were lost,
   * or they were never launched. Those that nothing has confirmed come in a call of their own, with
   * `isConfirmed` false: the service may have them. A stream that is destroyed or aborted tries for at most
   * ten seconds, and calls before it is closed.
   * @default nothing is called
   */
  readonly onLeftBehind?: ((names: readonly string[], isConfirmed?: boolean) => void) | undefined;
  /**
   * Keeps the export of a finished batch, and resolves with a function that opens what was kept.
   * @default keeps its bytes in memory
   */
  readonly collect?: ((batch: Batch, open: ExportOpener) => Promise<ExportOpener>) | undefined;
}

/** Progress of `verify()`: rows in and out so far, and the stages of batches. */
export type VerifyProgress =
  | { readonly stage: 'reading' | 'read' | 'writing' | 'written'; readonly rows: number }
  | BatchStage;

export interface VerifySettings
  extends StreamPlanOptions, Omit<DriveBatchesOptions, 'client' | 'collect'> {
  /** The client; everything that shares it shares its rate and concurrency. */
  readonly client: VerificationService;
  /**
   * Deletes each batch from the service once its results have arrived and, with a history, are stored.
   * `onLeftBehind` gets the others, including those launched before a stream ended early.
   * @default false
   */
  readonly deleteBatches?: boolean | undefined;
  /** Called for every hundred rows, and with each change of a batch. @default nothing is called */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
  /** Aborts the stream, with its reason as the error. @default never */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The verified columns and their country: nothing can be sent without both. The country comes first, as the
 * compiler reports it first.
 */
export type TargetChoice = CountryChoice & ColumnChoice;

/**
 * The options of `verify()` and `verifyRows()`.
 *
 * @template Input the rows, whose columns can be named
 */
export type VerifyOptions<Input extends object = Row> = Omit<VerifySettings, keyof ColumnOptions> &
  ColumnOptions<TextColumn<Input>, PhoneColumn<Input>, TextColumn<Input>> &
  TargetChoice;

/** The options of `verify()` and its three streams: each accepts those of all. */
export const streamShape: OptionShape<VerifySettings & DriveBatchesOptions> = {
  ...columnShape,
  ...countryShape,
  ...driveShape,
  client: { ...aClient, what: 'a Client, which a plan leaves to driveBatches()' },
  batchSize: count,
  maxWaitingRows: count,
  maxWaitingBytes: count,
  maxWaitMs: amount,
  history: aHistory,
  onProgress: called,
  onBatch: called,
  onLeftBehind: called,
  deleteBatches: flag,
  collect: called,
  signal,
};

export const verifyShape = { ...streamShape, client: required(aClient) };

/**
 * Takes the options of `verify()` for typed rows: the other types follow from the options, as no call can
 * have some types given and others inferred.
 */
export type TypedVerify<Input extends object> = <
  const Email extends TextColumn<Input> = never,
  const Phone extends PhoneColumn<Input> = never,
  const Prefix extends Prefixes = {},
  const Chosen extends AddedField = never,
  const Given = unknown,
>(
  options: TypedOptions<Input, Email, Phone, Prefix, Chosen> &
    Needed<Given, TargetChoice> &
    Refused<Given>,
) => RowStream<
  Input,
  EnrichedRow<Input, Email, Phone, Prefix, Chosen, SureFields<Given>, OpenFields<Given>>
>;

/** Options whose values decide the type of the rows. */
export interface TypedColumns<Input, Email, Phone, Prefix, Chosen> extends ColumnOptions<
  OneOf<Email, TextColumn<Input>, GenericRows>,
  OneOf<Phone, PhoneColumn<Input>>,
  TextColumn<Input>,
  Prefix & PrefixedColumns<Prefix, Email | Phone>,
  OneOf<Chosen, AddedField>
> {}

export interface TypedOptions<Input, Email, Phone, Prefix, Chosen>
  extends
    Omit<VerifySettings, keyof ColumnOptions>,
    TypedColumns<Input, Email, Phone, Prefix, Chosen> {}

/** The given type, or all allowed ones: a wrong call gets an error that lists them. */
type OneOf<Given, All, Hint = never> = [Given] extends [never]
  ? All
  : [Given] extends [string]
    ? Given
    : All | Hint;

/** The compiler's message for rows of a type parameter. */
type GenericRows =
  'columns of a generic type are unknown: verify { email: row.email, row }, see docs/reference/library.md';

/** Its message with where the type belongs. */
export type NoRowType<Email> = [Email] extends [string]
  ? unknown
  : { readonly error: 'write verify<Row>()(options), with a call for the type of the rows alone' };

/**
 * The compiler's message for values that are wrong for any rows.
 *
 * @template Given the options of the call
 */
export type Refused<Given> = Given extends { readonly country: infer Country }
  ? WrongCountry<Country> & NoColumns<Given>
  : NoColumns<Given>;

/** Two capital letters are a code, known or not. Names and other spellings are checked at run time. */
type WrongCountry<Country> = Country extends CountryCode | 'UK'
  ? unknown
  : Country extends `${infer First}${infer Second}`
    ? [First, Second] extends [Letter, Letter]
      ? { readonly country: `${Country} is not a country code of the service` }
      : unknown
    : unknown;

type Letter =
  | ('A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'J' | 'K' | 'L' | 'M')
  | ('N' | 'O' | 'P' | 'Q' | 'R' | 'S' | 'T' | 'U' | 'V' | 'W' | 'X' | 'Y' | 'Z');

/** A literal empty array has no element type. */
type NoColumns<Given> = Given extends { readonly email: readonly never[] }
  ? Given extends { readonly phone: infer Phone }
    ? [Phone] extends [readonly never[] | undefined]
      ? NameOne
      : unknown
    : NameOne
  : unknown;

interface NameOne {
  readonly email: 'name one column at least';
}

/** Prefixes of added columns, by verified column. */
export type Prefixes = Readonly<Record<string, string>>;

/** Only verified columns have added ones: any other name is refused, with the reason in its type. */
type PrefixedColumns<Prefix, Verified> = {
  readonly [
    Column in string extends keyof Prefix ? never : Exclude<keyof Prefix, Verified> & string
  ]: {
    readonly error: `${Column} is not verified`;
  };
};
