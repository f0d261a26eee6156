// Workbooks (`sluice/xlsx`)
export { xlsxFileSink } from './xlsx-file-sink.js';
export { xlsxFileSource } from './xlsx-file-source.js';
export type { XlsxOptions } from './open-xlsx.js';
