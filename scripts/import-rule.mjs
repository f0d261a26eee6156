import { readFile, readdir } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** What the library's own code may stand on, from the bottom up. */
const bottom = ['errors', 'system', 'contract', 'rows', 'diagnostics', 'hashing'];
const work = [...bottom, 'client', 'addresses', 'results', 'batches'];

/**
 * Which rooms (folders of src/) each room may import, besides itself. What is not listed is refused,
 * so a new room has to be given its place here first.
 */
const rooms = new Map([
  ['errors', []],
  ['system', ['errors']],
  ['contract', []],
  ['hashing', []],
  ['pages', []],
  ['rows', ['errors', 'system']],
  ['diagnostics', ['errors', 'contract']],
  ['client', bottom],
  ['addresses', bottom],
  ['results', [...bottom, 'client', 'addresses']],
  ['batches', [...bottom, 'client', 'addresses', 'results']],
  ['formats', ['errors', 'system', 'contract', 'rows', 'results']],
  // Its requests are made as those of the client are: one way through proxies, one backoff.
  ['places', ['errors', 'system', 'rows', 'formats', 'client']],
  ['databases', ['errors', 'system', 'rows', 'formats', 'addresses']],
  ['streams', work],
  ['runs', [...work, 'formats', 'streams']],
  ['service', ['errors', 'system', 'contract', 'hashing', 'pages']],
  // Its expectations are the specification's own words: a misread contract must not pass twice.
  ['conformance', ['errors']],
  ['opentelemetry', ['diagnostics', 'errors']],
  // And the faces.
  ['cli', ['pages']],
]);

/** The library's faces: all that the command line may know of it. */
const faces = [
  join('index.ts'),
  join('service', 'index.ts'),
  join('conformance', 'index.ts'),
  join('places', 's3', 'index.ts'),
  ...['postgres', 'mysql', 'sqlite', 'duckdb'].map((name) => join('databases', name, 'index.ts')),
];

/** Rooms that stand on nothing else may not lean on packages either; the rest is free to. */
const packagesOf = new Map([
  ['errors', []],
  ['hashing', []],
  ['pages', ['node:crypto']],
  ['contract', ['zod']],
]);

/**
 * Reads every module under `sourceFolder` and names each import that breaks the one-way rule.
 *
 * @returns one line a violation, `file: imports X, …`; empty when the rule holds
 */
export async function importViolations(sourceFolder) {
  const entries = await readdir(sourceFolder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const violations = [];
  for (const file of files) {
    const { importedFiles } = ts.preProcessFile(await readFile(file, 'utf8'), true, true);
    const from = relative(sourceFolder, file);
    for (const { fileName: specifier } of importedFiles) {
      const reason = specifier.startsWith('.')
        ? refuseModule(from, relative(sourceFolder, resolve(dirname(file), specifier)))
        : refusePackage(from, specifier);
      if (reason) violations.push(`${join('src', from)}: imports ${specifier}, ${reason}`);
    }
  }
  return violations;
}

function refuseModule(from, to) {
  if (to.startsWith('..')) return 'which is outside src/';
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (fromRoom === toRoom) return undefined;
  if (fromRoom === undefined) {
    return toRoom === 'cli' || toRoom === 'service'
      ? `${from} does not export ${toRoom}`
      : undefined;
  }
  const allowed = rooms.get(fromRoom);
  if (fromRoom === 'cli') {
    const isOpen = faces.includes(to.replace(/\.js$/, '.ts')) || allowed.includes(toRoom);
    return isOpen ? undefined : 'which is no face of the library';
  }
  if (!allowed) return `and ${fromRoom} has no place in the import rule`;
  if (toRoom === undefined) return 'the face, which stands above it';
  return allowed.includes(toRoom) ? undefined : `but ${fromRoom} may not import ${toRoom}`;
}

function refusePackage(from, specifier) {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (name === 'sluice') return 'itself, by its package name';
  const allowed = packagesOf.get(roomOf(from));
  if (!allowed || allowed.includes(name)) return undefined;
  const kind =
    name.startsWith('node:') || builtinModules.includes(name) ? 'a Node module' : 'a package';
  return `${kind} that ${roomOf(from)} may not use`;
}

/** The folder directly under src/, or undefined for the face itself. */
function roomOf(path) {
  const parts = path.split(sep);
  return parts.length > 1 ? parts[0] : undefined;
}
