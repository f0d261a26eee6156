// Verify rows
export { verify, type VerifyOptions } from './streams/verify.js';
export type { VerifyProgress } from './streams/verify-progress.js';
export { run } from './runs/run.js';
export { streamRun, type StreamRunOptions } from './runs/stream-run.js';
export {
  estimateRun,
  type ChangedCell,
  type Estimate,
  type EstimateOptions,
  type LaneEstimate,
  type TypeEstimate,
} from './runs/estimate.js';
export type { DoubtfulColumn, DoubtOptions } from './batches/doubtful-columns.js';
export type { MaxUnknown, RunOptions, RunProgress } from './runs/run-options.js';
export {
  hasFailed,
  type BatchReport,
  type CreditSummary,
  type Summary,
  type TypeSummary,
} from './runs/summary.js';
export { estimateSchema, summarySchema } from './runs/summary-schema.js';
export { abandonRun, type AbandonRunOptions } from './runs/abandon-run.js';
export type { Deletions } from './batches/delete-uploads.js';
export { readRunStatus, type RunStatus } from './runs/run-status.js';
export type { BatchTimes } from './runs/batch-times.js';
export type { FileSystem } from './system/file-system.js';
export type { PreparedCounts } from './batches/prepared-counts.js';
export type { Preflight, PreparedType } from './runs/preflight.js';
export { History, type HistoryOptions } from './runs/history/history.js';
export type { HistoryResult } from './runs/history/history-results.js';
export type { HistoryCounts, HistoryStats } from './runs/history/history-stats.js';
export { defaultMaxAgeDays, type MaxAgeDays } from './runs/history/max-age.js';
export { verdicts, type Verdict } from './results/verdict.js';
export type { ColumnOptions } from './batches/column-layout.js';
export type { CountryOptions } from './batches/plan.js';

// The three Transforms that verify() is made of
export { rowsToBatches } from './streams/rows-to-batches.js';
export { driveBatches, type DriveBatchesOptions } from './streams/drive-batches.js';
export { joinResults } from './streams/join-results.js';
export { StreamPlan, type StreamPlanOptions } from './streams/stream-plan.js';
export type {
  BatchParcel,
  Parcel,
  RowsParcel,
  SettledParcel,
  StoppedParcel,
} from './streams/parcel.js';
export type { Batch, BatchPart } from './batches/batch.js';
export type { Charge } from './batches/charge.js';
export {
  exportDiffers,
  type ComparedExport,
  type ExportDoubt,
  type ExportTally,
} from './batches/judge-export.js';
export type { BatchProgress, BatchSettings } from './batches/drive-options.js';
export type { FailedReason, KnownBatch } from './batches/known-batch.js';
export type { BatchEnding, ExportOpener } from './batches/result-join.js';
export type {
  AddressResult,
  Recall,
  ResultHistory,
  ToldResults,
} from './batches/result-history.js';

// The client
export { Client, type CallOptions } from './client/client.js';
export type { ClientOptions, RequestReport } from './client/client-options.js';
export type { UploadFile } from './client/multipart.js';
export { systemClock, type Clock } from './system/clock.js';
export type { VerificationService } from './client/verification-service.js';

// What is told to whoever listens to the process
export {
  diagnosticsChannels,
  type BatchEndEvent,
  type BatchStageEvent,
  type BatchStartEvent,
  type DiagnosticsEvents,
  type RequestEvent,
  type RunEndEvent,
  type RunStageEvent,
  type RunStartEvent,
} from './diagnostics/channels.js';

// Sources and sinks
export type { Row } from './rows/object-chunk.js';
export { invalidText, type CellText, type RawCells, type RowChunk } from './rows/row-chunk.js';
export type {
  AddedColumn,
  JoinedRows,
  OpenSinkOptions,
  OutputCell,
  RowExaminer,
  Sink,
  SinkWriting,
} from './rows/sink.js';
export type { FilePermissions } from './rows/file-permissions.js';
export type { OpenSourceOptions, Source, SourceReading } from './rows/source.js';
export { rowsSource, type RowsInput, type RowsSourceOptions } from './rows/rows-source.js';
export { combinedSource, type CombinedSourceOptions } from './rows/combined-source.js';
export { rowsSink, type RowsSinkOptions } from './rows/rows-sink.js';

// Files
export { splitSink, type KeepRule, type SplitSinkOptions } from './formats/split-sink.js';
export { csvFileSink, csvStreamSink, type CsvSinkOptions } from './formats/csv-sink.js';
export {
  csvFileSource,
  csvStreamSource,
  findCsvSource,
  type CsvSource,
} from './formats/csv-source.js';
export { fileSink, streamSink, type FileSinkOptions } from './formats/file-sink.js';
export { partsSink, type PartsSinkOptions } from './formats/parts-sink.js';
export { fileSource, findFileSource, streamSource } from './formats/file-source.js';
export type { FileOptions } from './formats/file-options.js';
export { fileFormats, parseFileFormat, type FileFormat } from './formats/file-format.js';
export type { CsvOptions } from './formats/csv-reading.js';
export type { ByteOutput } from './formats/byte-output.js';
export { createOutputFile, type OutputFileOptions } from './formats/output-file.js';
export { isMoreOpen } from './formats/no-more-open.js';
export { checkOutputPath, isSameFile, type OutputTarget } from './formats/output-path.js';

// Where lists are
export { findFiles } from './places/find-files.js';
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
export {
  isSluiceError,
  SluiceError,
  type SluiceErrorCode,
  type SluiceErrorOptions,
} from './errors/sluice-error.js';

// The contract
export * from './contract/bodies.js';
export * from './contract/countries.js';
export * from './contract/enums.js';
export * from './contract/limits.js';
export * from './contract/operations.js';
export * from './contract/parameters.js';
export * from './contract/parse-target.js';
export * from './contract/records.js';
export * from './contract/target-audiences.js';
export * from './contract/target-industries.js';
export * from './contract/target-objectives.js';

export { version } from './version.js';
