import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const fromHere = createRequire(import.meta.url);

/** The packages that only some need, with their versions; `undefined` where they are not installed. */
export async function installedPackages(): Promise<
  readonly (readonly [string, string | undefined])[]
> {
  const { peerDependencies } = fromHere('sluice/package.json') as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Promise.all(
    Object.keys(peerDependencies).map(async (name) => [name, await versionOf(name)] as const),
  );
}

/** Read, not loaded: a driver that breaks when it is loaded must not take the doctor with it. */
async function versionOf(name: string): Promise<string | undefined> {
  for (const folder of fromHere.resolve.paths(name) ?? []) {
    const manifest = await readFile(join(folder, name, 'package.json'), 'utf8').catch(
      () => undefined,
    );
    if (manifest !== undefined)
      return (JSON.parse(manifest) as { readonly version?: string }).version;
  }
  return undefined;
}
