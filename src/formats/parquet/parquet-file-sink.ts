import type { Sink } from '../../rows/sink.js';
import { fileSink } from '../file-sink.js';

/** A Parquet file that appears whole, by rename, or not at all. */
export function parquetFileSink(path: string): Sink {
  return fileSink(path, { format: 'parquet' });
}
