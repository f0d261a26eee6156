import { loadPackage } from '../../system/load-package.js';

const needed = { by: 'Parquet', install: 'hyparquet hyparquet-compressors hyparquet-writer' };

/**
 * The packages that read and write Parquet, loaded when they are used only.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function loadHyparquet() {
  return loadPackage(async () => {
    const [reader, { compressors }] = await Promise.all([
      import('hyparquet'),
      import('hyparquet-compressors'),
    ]);
    return { reader, compressors };
  }, needed);
}

/** @throws ConfigurationError `missing_dependency` */
export async function loadHyparquetWriter() {
  return loadPackage(async () => import('hyparquet-writer'), needed);
}
