import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { projectRoot, readEntries, readProjectJson } from '../../scripts/project.mjs';

it('imports no optional package before it is used, whichever entry point is imported', async () => {
  const { peerDependencies } = (await readProjectJson('package.json')) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  const peers = Object.keys(peerDependencies);
  const entries = await readEntries();
  const { metafile } = await build({
    entryPoints: entries.map(({ module }) => join(projectRoot, module)),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    loader: { '.sql': 'text' },
    outdir: 'nowhere',
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const isPeer = (path: string): boolean =>
    peers.some((name) => path === name || path.startsWith(`${name}/`));
  const optional = imports.filter(({ path, external }) => external === true && isPeer(path));
  expect(optional.filter(({ kind }) => kind === 'import-statement')).toEqual([]);
  // And they are found in this way at all.
  expect(optional.map(({ path }) => path)).toContain('hyparquet');
  expect(entries.map(({ entry }) => entry)).toContain('sluice');
});
