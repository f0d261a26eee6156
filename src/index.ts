// In the order of docs/library.md, which lists each name.

// Rows in a stream
export { verify, type TypedVerify } from './streams/verify.js';
export { verifyRows } from './streams/verify-rows.js';
export type {
  DriveBatchesOptions,
  StreamPlanOptions,
  VerifyOptions,
} from './streams/stream-options.js';
export type { VerifyProgress } from './streams/verify-progress.js';
export type { EnrichedRow, RowStream } from './streams/enriched-row.js';
export type { CountryChoice } from './batches/planning/plan.js';
export type { ColumnChoice, ColumnOptions } from './batches/columns/column-layout.js';
export { parseCountry } from './addresses/find-country.js';
export type { AddedField } from './results/columns.js';
export type { Row } from './rows/object-chunk.js';

// Runs
export { run } from './runs/run.js';
export type {
  EstimateOptions,
  MaxUnknown,
  RunOptions,
  StreamRunOptions,
} from './runs/options/run-options.js';
export type { CarriedRun, RunProgress } from './runs/progress/run-progress.js';
export { ProgressFigures, type Figures } from './runs/progress/progress-figures.js';
export type { SinkInput, SourceInput } from './runs/options/run-ends.js';
export type { DoubtfulColumn } from './batches/planning/doubtful-columns.js';
export type { Preflight, PreparedType } from './runs/credits/preflight.js';
export {
  hasFailed,
  type BatchReport,
  type RunEnd,
  type StoppedSummary,
  type Summary,
  type SummaryFile,
  type TypeSummary,
} from './runs/summary/summary.js';
export { estimateSchema, summaryFileSchema, summarySchema } from './runs/summary/summary-schema.js';
export type { SharedStore } from './runs/store/run-store.js';
export { readRunStatus } from './runs/read-status.js';
export type { RunStatus } from './runs/status/run-status.js';
export type { FoundSharedRun, SharedRunStatus, WorkerStatus } from './runs/status/shared-status.js';
export type { WorkerFigures } from './runs/status/worker-figures.js';
export { findRuns, type FoundRun } from './runs/find-runs.js';
export { checkRunFolder } from './runs/check-run-folder.js';
export { describeStart, describeStatus, type DescribedRun } from './runs/status/describe-status.js';
export {
  RunPapers,
  type RunPapersOptions,
  type StoppedOptions,
  type StoppedPapers,
} from './papers/run-papers.js';
export { abandonRun, type AbandonRunOptions } from './runs/abandon-run.js';
export { estimateRun, type Estimate, type TypeEstimate } from './runs/estimate.js';
export { streamRun } from './runs/stream-run.js';
export { findColumns, type FindColumnsOptions, type SampledList } from './runs/find-columns.js';

// Files, and rows of a program
export { fileSource, streamSource } from './formats/file-source.js';
export type { FileOptions } from './formats/file-options.js';
export { fileSink, streamSink, type FileSinkOptions } from './formats/file-sink.js';
export {
  columnsFor,
  fileFormats,
  parseFileFormat,
  type FileFormat,
} from './formats/file-format.js';
export { verdictFolder, verdictSink } from './formats/verdict-sink.js';
export { partsSink, type PartsSinkOptions } from './formats/parts-sink.js';
export {
  loadStatement,
  loadTargets,
  type LoadStatementOptions,
  type LoadTarget,
} from './loads/load-statement.js';
export { combinedSource, type CombinedSourceOptions } from './rows/combined-source.js';
export {
  rowsSource,
  type RowsInput,
  type RowsSource,
  type RowsSourceOptions,
} from './rows/rows-source.js';
export { rowsSink, type RowsSinkOptions } from './rows/rows-sink.js';
export { splitSink, type KeepRule, type SplitSinkOptions } from './formats/split-sink.js';
export { verdicts, type Verdict } from './results/verdict.js';

// Files that appear whole
export { writeOutputFile, type OutputFileOptions } from './output-files/output-file.js';
export { checkOutputPath, type OutputTarget } from './output-files/output-path.js';
export { moreOpenFiles } from './output-files/more-open-files.js';

// Results of earlier runs
export { History } from './runs/history/history.js';
export type { HistoryOptions } from './runs/history/history-options.js';
export type { HistoryResult } from './runs/history/history-results.js';
export type { HistoryStats } from './runs/history/history-stats.js';
export { maxAgesOf, type MaxAgeDays } from './runs/history/max-age.js';
export type { ResultHistory } from './batches/joining/result-history.js';

// The client
export { Client, type CallOptions } from './client/client.js';
export type { ClientOptions, RequestReport } from './client/client-options.js';
export { describeTrouble, type DescribedTrouble } from './client/describe-trouble.js';
export type { ServiceTrouble } from './client/service-trouble.js';
export type { UploadFile } from './client/multipart.js';
export type { VerificationService } from './client/verification-service.js';
export type { Clock } from './system/clock.js';

// The three Transforms that verify() is made of
export { rowsToBatches } from './streams/rows-to-batches.js';
export { driveBatches } from './streams/drive-batches.js';
export { joinResults } from './streams/join-results.js';
export { StreamPlan } from './streams/stream-plan.js';
export type { Parcel } from './streams/parcel.js';
export type { Batch } from './batches/batch.js';
export type { BatchProgress } from './batches/life/batch-progress.js';
export type { BatchSettings } from './batches/driving/drive-options.js';
export type { FailedReason, KnownBatch } from './batches/life/known-batch.js';
export type { Charge } from './batches/life/charge.js';
export { exportDiffers, type ComparedExport } from './batches/life/judge-export.js';

// Sources and sinks of one's own
export type { FoundHeader, OpenSourceOptions, Source, SourceReading } from './rows/source.js';
export { invalidText, type CellText, type RawCells, type RowChunk } from './rows/row-chunk.js';
export type {
  AddedColumn,
  ColumnsToExamine,
  JoinedRows,
  LeftAlone,
  OpenSinkOptions,
  OutputCell,
  OutputPatience,
  RowExaminer,
  Sink,
  SinkWriting,
  TextColumn,
} from './rows/sink.js';
export { JsonText } from './rows/json-text.js';
export { printKind, type Kind } from './rows/kinds.js';
export type { FilePermissions } from './system/file-permissions.js';

// What is told to whoever listens to the process
export { diagnosticsChannels, type DiagnosticsEvents } from './diagnostics/channels.js';

// Where lists are
export {
  defaultStateDir,
  isSameList,
  parsePlace,
  showPlace,
  type DatabaseKind,
  type ListPlace,
} from './places/list-place.js';
export { findLists, listSink, listSource, type ListSinkOptions } from './places/named-lists.js';
export { httpSource } from './places/http-source.js';
export type { RemoteOptions } from './places/remote-input.js';

// Errors
export {
  ApiError,
  BudgetError,
  ConfigurationError,
  ContractError,
  DeadlineError,
  DetachedError,
  InputError,
  OutputError,
  StateError,
  TransportError,
} from './errors/family.js';
export { isSluiceError } from './errors/is-sluice-error.js';
export {
  SluiceError,
  type ErrorCodes,
  type SluiceErrorCode,
  type SluiceErrorOptions,
} from './errors/sluice-error.js';

export { version } from './system/version.js';
