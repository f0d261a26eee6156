import type { Sink } from '../../rows/sink.js';
import { fileSink } from '../file-sink.js';

/** An XLSX workbook of one sheet that appears whole, by rename, or not at all. */
export function xlsxFileSink(path: string): Sink {
  return fileSink(path, { format: 'xlsx' });
}
