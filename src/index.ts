// In the order of docs/reference/library.md, which lists each name.

// Rows in a stream
export { verify } from './engine/streams/verify.js';
export type { TypedVerify } from './engine/streams/stream-options.js';
export { verifyRows } from './engine/streams/verify-rows.js';
export {
  verifyAddress,
  type AddressVerdict,
  type VerifyEmailOptions,
  type VerifyPhoneOptions,
} from './engine/driver/verify-address.js';
export type {
  DriveBatchesOptions,
  StreamPlanOptions,
  VerifyOptions,
} from './engine/streams/stream-options.js';
export type { VerifyProgress } from './engine/streams/stream-options.js';
export type { EnrichedRow, RowStream } from './engine/streams/enriched-row.js';
export type { FailedReason } from './engine/batches/batch-state.js';
export type { Open } from './contract/enums.js';
export type { CountryChoice } from './engine/plan/plan.js';
export type { ColumnChoice, ColumnOptions } from './engine/columns/column-layout.js';
export { parseCountry } from './engine/addresses/country/parse-country.js';
export type { AddedField } from './engine/columns/added-fields.js';
export type { Row } from './lists/rows/chunks/object-chunk.js';

export { run } from './engine/runs/run.js';
export type {
  EstimateOptions,
  MaxUnknown,
  RunOptions,
  StreamRunOptions,
} from './engine/runs/options/run-options.js';
export type { CarriedRun, RunProgress } from './engine/runs/reporting/run-progress.js';
export { ProgressFigures, type Figures } from './engine/runs/reporting/progress-figures.js';
export type { SinkInput, SourceInput } from './engine/runs/options/source-and-sink.js';
export type { DoubtfulColumn } from './engine/plan/column-quality.js';
export type { Preflight, PreparedType } from './engine/runs/credits.js';
export type { BatchReport, TypeSummary } from './engine/summary/figures.js';
export {
  hasFailed,
  type RunEnd,
  type StoppedSummary,
  type Summary,
  type SummaryFile,
} from './engine/summary/summary.js';
export {
  estimateSchema,
  summaryFileSchema,
  summarySchema,
} from './engine/summary/summary-schema.js';
export type { SharedStore } from './engine/stores/run-store.js';
export { readRunStatus, findRuns, type FoundRun } from './engine/runs/reporting/read-status.js';
export type { RunStatus } from './engine/stores/run-status.js';
export type {
  FoundSharedRun,
  SharedRunStatus,
  WorkerStatus,
} from './engine/stores/shared/shared-status.js';
export { describeStatus, type DescribedRun } from './report/run-end.js';
export { RunReports } from './report/run-reports.js';
export type { RunReportsOptions, StoppedOptions } from './report/report-options.js';
export type { Advice } from './report/sentences/advice-catalogue.js';
export type { Notice } from './platform/text/notices.js';
export { abandonRun, type AbandonRunOptions } from './engine/runs/abandon-run.js';
export type { Deletions } from './engine/batches/uploads/delete-uploads.js';
export {
  estimateRun,
  type Estimate,
  type TypeEstimate,
  type UnfinishedRun,
} from './engine/runs/estimate.js';
export { streamRun } from './engine/runs/stream-run.js';
export {
  findColumns,
  type FindColumnsOptions,
  type SampledList,
} from './engine/columns/find-columns.js';

// Files, and rows of a program
export { fileSource, streamSource } from './lists/files/file-source.js';
export type { FileOptions } from './lists/files/file-format.js';
export { fileSink, streamSink, type FileSinkOptions } from './lists/files/file-sink.js';
export type { FileFormat } from './lists/files/file-format.js';
export { verdictFolder, verdictSink } from './engine/runs/output/verdict-sink.js';
export { partsSink, type PartsSinkOptions } from './lists/files/partitions/parts-sink.js';
export {
  loadStatement,
  loadTargets,
  type LoadStatementOptions,
} from './lists/sql/warehouse/load-statement.js';
export {
  combinedSource,
  type CombinedSourceOptions,
} from './lists/rows/sources/combined-source.js';
export {
  rowsSource,
  type RowsInput,
  type RowsOf,
  type RowsSource,
  type RowsSourceOptions,
} from './lists/rows/sources/rows-source.js';
export { rowsSink, type RowsSinkOptions } from './lists/rows/rows-sink.js';
export {
  splitSink,
  type KeepRule,
  type SplitSinkOptions,
} from './engine/runs/output/split-sink.js';
export type { SuppressList } from './engine/runs/options/read-suppressed.js';
export { verdicts, type Verdict, type Verification } from './engine/results/outcome-table.js';

// Results of earlier runs
export { History } from './engine/history/history.js';
export type { HistoryOptions, MaxAgeDays } from './engine/history/history-options.js';
export type { HistoryResult, HistoryStats } from './engine/history/history-lookup.js';
export type { ResultHistory } from './engine/plan/result-cache.js';

export { Client, type VerificationService } from './client/client.js';
export type { ListQuery } from './client/batch-list.js';
export type { ExportAnswer } from './client/http/response.js';
export type { CallOptions } from './client/client-options.js';
export type {
  FileParameters,
  FinishedBatch,
  RoundOptions,
  WaitOptions,
} from './client/batch-round.js';
export type { ClientOptions, RequestReport } from './client/client-options.js';
export { describeOutage, type ServiceOutage } from './client/rate/outage.js';
export type { UploadFile } from './client/http/multipart.js';
export type { Clock } from './platform/waiting/clock.js';

// The three Transforms that verify() is made of
export { rowsToBatches } from './engine/streams/rows-to-batches.js';
export { driveBatches } from './engine/streams/drive-batches.js';
export type { Parcel, SettledParcel } from './engine/streams/parcel.js';
export { joinResults } from './engine/streams/join-results.js';
export type { BatchEnding } from './engine/plan/result-join.js';
export { mergeExports, type SavedExport } from './engine/streams/merge-exports.js';
export { StreamPlan } from './engine/streams/stream-plan.js';
export type { Batch } from './engine/batches/batch.js';
export type { BatchProgress } from './engine/batches/claim.js';
export type { BatchSettings } from './engine/driver/driver-options.js';
export type { BatchState } from './engine/batches/batch-state.js';
export type { ComparedExport } from './engine/batches/export-check.js';

// Sources and sinks of one's own
export type { OpenSourceOptions, Source, SourceReading } from './lists/rows/source.js';
export {
  invalidText,
  type CellFormat,
  type CellText,
  type RawCells,
  type RowChunk,
} from './lists/rows/chunks/row-chunk.js';
export type {
  AddedColumn,
  ColumnsToValidate,
  JoinedRows,
  OpenSinkOptions,
  OutputCell,
  LockWait,
  RowValidator,
  Sink,
  SinkWriting,
} from './lists/rows/sink.js';
export { JsonText, type Kind } from './lists/rows/values/kinds.js';
export type { FilePermissions } from './platform/files/file-system.js';

// What is published on the process's channels
export { diagnosticsChannels, type DiagnosticsEvents } from './platform/observability.js';

// Where lists are
export { defaultStateDir } from './lists/location.js';
export { findLists, listSink, listSource, type ListSinkOptions } from './lists/named-lists.js';
export { httpSource } from './lists/remote/http-source.js';
export type { RemoteOptions } from './lists/remote/remote-input.js';

export * from './platform/errors/index.js';

export { version } from './platform/version.js';
