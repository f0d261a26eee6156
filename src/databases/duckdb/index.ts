export { duckdbSource, type DuckdbSourceOptions } from './duckdb-source.js';
export { duckdbSink, type DuckdbSinkOptions } from './duckdb-sink.js';
export type { TableKeyOptions } from '../table-key-options.js';
