import { build } from 'esbuild';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../scripts/project.mjs';

it.each(['platform/errors', 'contract'])(
  'src/%s bundles for a browser, where Node has no part',
  async (folder) => {
    const { errors, outputFiles } = await build({
      entryPoints: [join(projectRoot, 'src', folder, 'index.ts')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    expect(outputFiles[0]?.text).not.toMatch(/\b(?:Buffer|process|setImmediate)\b/);
  },
);
