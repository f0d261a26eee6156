import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('sluice/package.json') as {
  readonly version: string;
};

/** Version of this package. */
export const version = manifest.version;
