import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from '../project.mjs';

/**
 * The folders of src/, and which others each may import. What is not listed is refused, so a new folder has
 * to be given its place here first.
 */
const rooms = new Map([
  ['contract', []],
  ['platform', ['contract']],
  ['client', ['contract', 'platform']],
  // Lists are fetched as the service is asked: one way through proxies, one backoff.
  ['lists', ['contract', 'platform', 'client']],
  ['engine', ['contract', 'platform', 'client', 'lists']],
  ['report', ['contract', 'platform', 'client', 'lists', 'engine']],
  ['service', ['contract', 'platform']],
  ['live', ['contract', 'platform', 'service']],
  // Its expectations are the specification's own words: a misread contract must not pass twice.
  ['conformance', ['platform']],
  ['testing', ['lists', 'platform']],
  // And the faces.
  // The table of a run's options is of the command line, too.
  ['cli', ['platform/text', 'report/sentences', 'engine/runs/options']],
]);

/** The rooms of the engine, from the bottom up: each may import those before it. */
const engine = [
  'addresses',
  'results',
  'columns',
  'batches',
  'plan',
  'driver',
  'summary',
  'stores',
  'history',
  'streams',
  'runs',
];

/** What the package exports, and so all that the command line may know of it: see package.json. */
const faces = [
  'index.ts',
  // What a value must be, in a text or in a program.
  join('platform', 'check-options.ts'),
  join('platform', 'option-kinds.ts'),
  // What a list is called, where an output goes, and how both are shown: of no use to a program.
  join('engine', 'addresses', 'suggest-domain.ts'),
  join('engine', 'addresses', 'phone', 'phone-country.ts'),
  join('engine', 'batches', 'export-check.ts'),
  join('engine', 'driver', 'verify-address.ts'),
  join('engine', 'history', 'history-options.ts'),
  join('engine', 'runs', 'reporting', 'read-status.ts'),
  join('engine', 'stores', 'directory', 'folders.ts'),
  join('lists', 'location.ts'),
  join('lists', 'files', 'file-format.ts'),
  join('lists', 'files', 'outputs', 'output-file.ts'),
  join('lists', 'files', 'outputs', 'output-path.ts'),
  join('lists', 'rows', 'values', 'kinds.ts'),
  ...['contract', 'service'].map((name) => join(name, 'index.ts')),
  join('conformance', 'check-conformance.ts'),
  join('lists', 'remote', 's3', 'index.ts'),
  ...['postgres', 'mysql', 'sqlite', 'duckdb'].map((name) =>
    join('lists', 'sql', name, 'index.ts'),
  ),
];

/** Folders that stand on nothing else may not lean on packages either; the rest is free to. */
const packagesOf = new Map([
  ['contract', ['zod']],
  [join('platform', 'errors'), []],
  [join('platform', 'hashing'), []],
  [join('platform', 'html'), ['node:crypto']],
  [join('platform', 'text'), []],
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
  const file = to.replace(/\.js$/, '.ts');
  if (fromRoom === toRoom) return fromRoom === 'engine' ? refuseInEngine(from, to) : undefined;
  if (fromRoom === undefined) {
    return toRoom === 'cli' || toRoom === 'service'
      ? `${from} does not export ${toRoom}`
      : undefined;
  }
  const allowed = rooms.get(fromRoom);
  if (!allowed) return `and ${fromRoom} has no place in the import rule`;
  if (fromRoom === 'cli') {
    const isOpen = faces.includes(file) || allowed.some((folder) => isIn(folder, file));
    return isOpen ? undefined : 'which is no face of the library';
  }
  if (toRoom === undefined) return 'the face, which stands above it';
  // What the package exports puts together what a user needs.
  if (allowed.includes(toRoom) || (faces.includes(from) && toRoom !== 'cli')) return undefined;
  return `but ${fromRoom} may not import ${toRoom}`;
}

function refuseInEngine(from, to) {
  const [fromPart, toPart] = [from, to].map((path) => path.split(sep)[1]);
  const [above, below] = [engine.indexOf(fromPart), engine.indexOf(toPart)];
  if (above === -1) return `and ${fromPart} has no place in the import rule`;
  return below > above ? `but ${fromPart} may not import ${toPart}` : undefined;
}

function isIn(folder, file) {
  return file.startsWith(folder.replaceAll('/', sep) + sep);
}

function refusePackage(from, specifier) {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (name === 'sluice') return 'itself, by its package name';
  const [folder, allowed] = [...packagesOf].find(([known]) => isIn(known, from)) ?? [];
  if (!allowed || allowed.includes(name)) return undefined;
  const kind =
    name.startsWith('node:') || builtinModules.includes(name) ? 'a Node module' : 'a package';
  return `${kind} that ${folder} may not use`;
}

/** The folder directly under src/, or undefined for the face itself. */
function roomOf(path) {
  const parts = path.split(sep);
  return parts.length > 1 ? parts[0] : undefined;
}
