export { mysqlSource, type MysqlSourceOptions } from './mysql-source.js';
export { mysqlSink, type MysqlSinkOptions } from './mysql-sink.js';
export type { TableKeyOptions } from '../table-key-options.js';
