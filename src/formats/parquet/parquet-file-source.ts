import type { Source } from '../../rows/source.js';
import { fileSource } from '../file-source.js';

/** The rows of a Parquet file, as often as asked. */
export function parquetFileSource(path: string): Source {
  return fileSource(path, { format: 'parquet' });
}
