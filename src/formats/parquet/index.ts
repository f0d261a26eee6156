// Parquet files (`sluice/parquet`)
export { parquetFileSink } from './parquet-file-sink.js';
export { parquetFileSource } from './parquet-file-source.js';
