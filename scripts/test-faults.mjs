// `npm run test:faults [-- --fixed | --pairs 2000 | --parts 2 | --seed 42]`: every fault at every request of a run
// over real sockets, every call on the disk that a run makes, and all pairs of faults (or so many, drawn) on a run
// in the simulated world. With `--parts 2` one in two of the first two kinds, drawn. With `--fixed` a few of
// each kind, the same each time: they decide whether a change lands. `--seed` draws again what was drawn.
import { parseArgs } from 'node:util';
import { spawnSync } from 'node:child_process';
import { projectRoot } from './project.mjs';

const { values } = parseArgs({
  options: {
    fixed: { type: 'boolean', default: false },
    pairs: { type: 'string' },
    parts: { type: 'string', default: '1' },
    seed: { type: 'string' },
  },
});
const { fixed, pairs = fixed ? '50' : 'all', parts } = values;
const seed = values.seed ?? (fixed ? '1' : String(Date.now() % 2 ** 32));
console.log(`seed ${seed}`);

const suites = [
  ['npx', 'vitest', 'run', '--config', 'vitest.faults.config.ts'],
  ['node', 'scripts/run-compiled.mjs', 'simulation', '--pairs', pairs, '--sample', seed],
];
const failed = suites.filter(([command, ...args]) => {
  const env = {
    ...process.env,
    FAULTS_SEED: seed,
    FAULTS_PARTS: parts,
    FAULTS_FIXED: fixed ? '1' : '0',
  };
  return spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit', env }).status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
