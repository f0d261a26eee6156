export { sqliteSource, type SqliteSourceOptions } from './sqlite-source.js';
export { sqliteSink, type SqliteSinkOptions } from './sqlite-sink.js';
export type { TableKeyOptions } from '../table-key-options.js';
