import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './source-files.mjs';

/** What the library's own code may stand on, from the bottom up. */
const bottom = [
  'errors',
  'system',
  'contract',
  'rows',
  'diagnostics',
  'hashing',
  'words',
  'options',
];
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
  ['words', []],
  ['options', ['errors', 'words']],
  ['rows', ['errors', 'system', 'options']],
  ['diagnostics', ['errors', 'contract']],
  ['client', bottom],
  ['addresses', bottom],
  ['results', [...bottom, 'client', 'addresses']],
  ['batches', [...bottom, 'client', 'addresses', 'results']],
  ['output-files', ['errors', 'system']],
  ['formats', ['errors', 'system', 'contract', 'options', 'rows', 'results', 'output-files']],
  // Its requests are made as those of the client are: one way through proxies, one backoff.
  ['places', ['errors', 'system', 'options', 'rows', 'output-files', 'formats', 'client']],
  // A store of runs is a database, too.
  ['databases', [...work, 'output-files', 'formats', 'runs']],
  ['loads', ['errors', 'rows', 'formats', 'databases']],
  ['streams', work],
  ['runs', [...work, 'formats', 'places', 'streams']],
  ['papers', [...bottom, 'pages', 'output-files', 'batches', 'runs']],
  ['service', ['errors', 'system', 'contract', 'hashing', 'pages', 'words', 'options']],
  // Its expectations are the specification's own words: a misread contract must not pass twice.
  ['conformance', ['errors']],
  ['opentelemetry', ['diagnostics', 'errors', 'system']],
  ['testing', ['rows']],
  // And the faces. Words are ground that knows nothing of lists and of the service.
  ['cli', ['words']],
]);

/**
 * Rooms with rooms in them, from the bottom up: each may import those before it. `.` is what stands in the
 * outer room itself: what all of them share, or what is made of all of them.
 */
const innerRooms = new Map([
  ['batches', ['.', 'columns', 'life', 'numbering', 'uploads', 'joining', 'planning', 'driving']],
  [
    'runs',
    [
      'summary',
      'disk',
      'journal',
      'status',
      'store',
      'history',
      'progress',
      'credits',
      'leased-store',
      'earlier-runs',
      'options',
      'planning',
      'output',
      'driving',
      'opening',
      '.',
    ],
  ],
]);

/** The library's faces: all that the command line may know of it. */
const faces = [
  'index.ts',
  ...['contract', 'service', 'conformance'].map((name) => join(name, 'index.ts')),
  join('places', 's3', 'index.ts'),
  ...['postgres', 'mysql', 'sqlite', 'duckdb'].map((name) => join('databases', name, 'index.ts')),
];

/** Rooms that stand on nothing else may not lean on packages either; the rest is free to. */
const packagesOf = new Map([
  ['errors', []],
  ['hashing', []],
  ['pages', ['node:crypto']],
  ['words', []],
  ['contract', ['zod']],
]);

/**
 * Reads every module under `sourceFolder` and names each import that breaks the one-way rule, and each
 * circle of modules that import each other, if only for a type.
 *
 * @returns one line a violation, `file: imports X, …`; empty when the rule holds
 */
export async function importViolations(sourceFolder) {
  const violations = [];
  const imported = new Map();
  for (const file of await sourceFiles(sourceFolder)) {
    const { importedFiles } = ts.preProcessFile(await readFile(file, 'utf8'), true, true);
    const from = relative(sourceFolder, file);
    const modules = new Set();
    for (const { fileName: specifier } of importedFiles) {
      const to = relative(sourceFolder, resolve(dirname(file), specifier));
      const isOwn = specifier.startsWith('.');
      if (isOwn) modules.add(to.replace(/\.js$/, '.ts'));
      const reason = isOwn ? refuseModule(from, to) : refusePackage(from, specifier);
      if (reason) violations.push(`${join('src', from)}: imports ${specifier}, ${reason}`);
    }
    imported.set(from, modules);
  }
  for (const circle of circlesIn(imported)) {
    const way = [...circle.slice(1), circle[0]].map((file) => join('src', file)).join(' → ');
    violations.push(`${join('src', circle[0])}: imports ${way}, in a circle`);
  }
  return violations;
}

/**
 * Walks the imports in depth.
 *
 * @returns circles, each as its modules in order; none when there are none
 */
function circlesIn(imported) {
  const circles = [];
  const isDone = new Set();
  const way = [];
  const visit = (file) => {
    const at = way.indexOf(file);
    if (at !== -1) circles.push(way.slice(at));
    if (at !== -1 || isDone.has(file)) return;
    way.push(file);
    for (const next of imported.get(file) ?? []) visit(next);
    way.pop();
    isDone.add(file);
  };
  for (const file of imported.keys()) visit(file);
  return circles;
}

function refuseModule(from, to) {
  if (to.startsWith('..')) return 'which is outside src/';
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (fromRoom === toRoom) return refuseInside(from, to);
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

/** Within one room. */
function refuseInside(from, to) {
  const inner = innerRooms.get(roomOf(from));
  if (!inner) return undefined;
  const [fromInner, toInner] = [innerRoomOf(from), innerRoomOf(to)];
  const [above, below] = [inner.indexOf(fromInner), inner.indexOf(toInner)];
  if (above === -1) return `and ${fromInner} has no place in the import rule`;
  return below > above ? `but ${fromInner} may not import ${toInner}` : undefined;
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

/** The folder below a room, or `.` for the room itself. */
function innerRoomOf(path) {
  const parts = path.split(sep);
  return parts.length > 2 ? parts[1] : '.';
}
