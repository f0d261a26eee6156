import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, readProjectJson, mustRun, runScript } from './project.mjs';

/** What `npm run drivers -- <name>` installs. */
const drivers = {
  postgres: ['pg', 'pg-copy-streams', 'pg-query-stream'],
  mysql: ['mysql2'],
  sqlite: ['libsql'],
  duckdb: ['@duckdb/node-api'],
  s3: ['@aws-sdk/client-s3'],
  parquet: ['hyparquet', 'hyparquet-compressors', 'hyparquet-writer'],
  xlsx: ['exceljs'],
  live: ['dns-packet', 'mcc-mnc-list', 'socks'],
};

/**
 * Installs packages that only some need into a clone, beside those of `npm ci --omit=dev`: in the versions of the
 * lock, checked by its hashes, and nothing else. `npm install` would install all packages for development, or
 * none. The lock and package.json stay as they are.
 */
await runScript(async () => {
  const names = process.argv.slice(2);
  const wrong = names.filter((name) => !Object.hasOwn(drivers, name));
  if (names.length === 0 || wrong.length > 0) {
    const known = Object.keys(drivers).join(', ');
    throw new Error(
      `${wrong.length > 0 ? `there is no driver ${wrong.join(', ')}; ` : ''}name some of ${known}`,
    );
  }
  const wanted = names.flatMap((name) => drivers[name]);
  const { packages: locked } = await readProjectJson('package-lock.json');
  const packages = closureOf(wanted, locked);
  const cache = join(projectRoot, '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'drivers-'));
  try {
    const dependencies = Object.fromEntries(
      wanted.map((name) => [name, locked[`node_modules/${name}`].version]),
    );
    const manifest = { name: 'drivers', version: '0.0.0', dependencies };
    const lock = { ...manifest, lockfileVersion: 3, packages: { '': manifest, ...packages } };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    await mustRun(
      'npm',
      ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'],
      { cwd: folder },
    );
    await putBeside(join(folder, 'node_modules'), join(projectRoot, 'node_modules'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`installed for ${names.join(', ')}: ${wanted.join(', ')}`);
});

/** Those packages and all that they need, at the places that the lock has for them. */
function closureOf(names, locked) {
  const found = {};
  const open = names.map((name) => ['', name]);
  for (const [from, name] of open) {
    const path = placeOf(from, name, locked);
    if (path === undefined || Object.hasOwn(found, path)) continue;
    const { dev: _dev, devOptional: _devOptional, peer: _peer, ...entry } = locked[path];
    found[path] = entry;
    const needed = { ...entry.dependencies, ...entry.optionalDependencies };
    open.push(...Object.keys(needed).map((each) => [path, each]));
  }
  return found;
}

/** Where Node.js finds a package from the folder of another. */
function placeOf(from, name, locked) {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(locked, path)) return path;
    if (folder === '') return undefined;
  }
}

/** What is there is of the same lock, and stays. */
async function putBeside(from, to) {
  for (const name of await readdir(from)) {
    if (name.startsWith('.')) continue;
    const [source, target] = [join(from, name), join(to, name)];
    const exists = await stat(target).then(
      () => true,
      () => false,
    );
    if (name.startsWith('@') && exists) await putBeside(source, target);
    else if (!exists) await cp(source, target, { recursive: true });
  }
}
