export { postgresSource, type PostgresSourceOptions } from './postgres-source.js';
export { postgresSink, type PostgresSinkOptions } from './postgres-sink.js';
export type { TableKeyOptions } from '../table-key-options.js';
