export { mysqlSource, type MysqlSourceOptions } from './mysql-source.js';
export { mysqlSink, type MysqlSinkOptions } from './mysql-sink.js';
