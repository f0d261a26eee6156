import { notInstalled } from '../../platform/not-installed.js';

const missing = notInstalled({
  by: 'Parquet',
  install: 'hyparquet hyparquet-compressors hyparquet-writer',
});

/**
 * The packages that read and write Parquet, loaded when they are used only.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function loadHyparquet() {
  const [reader, { compressors }] = await Promise.all([
    import('hyparquet').catch(missing),
    import('hyparquet-compressors').catch(missing),
  ]);
  return { reader, compressors };
}

/** @throws ConfigurationError `missing_dependency` */
export async function loadHyparquetWriter() {
  return import('hyparquet-writer').catch(missing);
}
