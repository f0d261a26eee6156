import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'sluice-tests-';
const leastBytes = 4_000_000_000;

/**
 * Has this process and those it starts keep their temporary files in memory, where there is room: a third of
 * the tests' time was waiting for a disk to write down what is thrown away a moment later. The folder goes
 * with this process. Whoever sets TMPDIR decides.
 */
export function useMemoryFolder() {
  if (process.env.TMPDIR !== undefined) return;
  const folder = join(memory, `${prefix}${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < leastBytes) return;
    sweep();
    mkdirSync(folder);
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, 'program');
    writeFileSync(program, '', { mode: 0o755 });
    // Not so where programs may not be run from it.
    accessSync(program, constants.X_OK);
    rmSync(program);
  } catch {
    return;
  }
  process.env.TMPDIR = folder;
}

/** Removes what processes have left that were killed. */
function sweep() {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
