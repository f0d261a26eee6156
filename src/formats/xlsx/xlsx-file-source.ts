import type { Source } from '../../rows/source.js';
import { fileSource } from '../file-source.js';
import type { XlsxOptions } from './open-xlsx.js';

/** The rows of a sheet of an XLSX workbook, as often as asked. */
export function xlsxFileSource(path: string, options: XlsxOptions = {}): Source {
  return fileSource(path, { ...options, format: 'xlsx' });
}
