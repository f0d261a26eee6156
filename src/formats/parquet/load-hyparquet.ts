import { ConfigurationError } from '../../errors/family.js';

const packages = ['hyparquet', 'hyparquet-compressors', 'hyparquet-writer'];

/**
 * The packages that read and write Parquet, loaded when they are used only.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function loadHyparquet() {
  return load(async () => {
    const [reader, { compressors }] = await Promise.all([
      import('hyparquet'),
      import('hyparquet-compressors'),
    ]);
    return { reader, compressors };
  });
}

/** @throws ConfigurationError `missing_dependency` */
export async function loadHyparquetWriter() {
  return load(async () => import('hyparquet-writer'));
}

async function load<Loaded>(work: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await work();
  } catch (cause) {
    throw new ConfigurationError(
      `Parquet needs packages that are not installed: npm install ${packages.join(' ')}`,
      { code: 'missing_dependency', cause },
    );
  }
}
