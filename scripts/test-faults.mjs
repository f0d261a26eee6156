// `npm run test:faults [-- --pairs 2000]`: every fault at every request of a run over real sockets, every
// call on the disk that a run makes, and all pairs of faults (or so many, drawn by FAULTS_SEED) on a run
// in the simulated world. With `--parts 2` one in two of the first two kinds, drawn by FAULTS_SEED.
import { parseArgs } from 'node:util';
import { spawnSync } from 'node:child_process';
import { projectRoot } from './project.mjs';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: 'all' },
    parts: { type: 'string', default: '1' },
  },
});
const seed = process.env.FAULTS_SEED ?? String(Date.now() % 2 ** 32);
console.log(`FAULTS_SEED=${seed}`);

const suites = [
  ['npx', 'vitest', 'run', '--config', 'vitest.faults.config.ts'],
  ['node', 'scripts/test-simulation.mjs', '--pairs', values.pairs, '--sample', seed],
];
const failed = suites.filter(([command, ...args]) => {
  const env = { ...process.env, FAULTS_SEED: seed, FAULTS_PARTS: values.parts };
  return spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit', env }).status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
