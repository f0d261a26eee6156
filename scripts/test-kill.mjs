// `npm run test:kill [-- --fixed | --kills 2000 | --copies 200 | --shared 1000 | --parts 2 | --seed 42]`: the
// command killed at every write of its journal (of so many parts: one, drawn), and at random moments; its state
// directory copied at random moments and gone on with on both machines; the processes of shared runs killed and
// frozen. With `--fixed` only at records that have names, the same each time: that decides whether a change
// lands. `--seed` draws again what was drawn.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { projectRoot } from './project.mjs';

const { values } = parseArgs({
  options: {
    fixed: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    kills: { type: 'string' },
    copies: { type: 'string' },
    shared: { type: 'string' },
    parts: { type: 'string' },
  },
});
// Asked for some of them, the others are not what is wanted.
const only = [
  ...(values.fixed ? ['--fileParallelism=true', '--testTimeout=300000', 'named-'] : []),
  ...(values.kills === undefined ? [] : ['journal-kills', 'random-kills']),
  ...(values.copies === undefined ? [] : ['copied-state']),
  ...(values.shared === undefined ? [] : ['shared-kills']),
];
if (!values.fixed) console.log(`seed ${values.seed}`);
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'vitest.kill.config.ts', ...only],
  {
    cwd: projectRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      SLUICE_KILL_SEED: values.seed,
      SLUICE_KILLS: values.kills ?? '300',
      SLUICE_COPIES: values.copies ?? '20',
      SLUICE_SHARED_KILLS: values.shared ?? '40',
      SLUICE_KILL_PARTS: values.parts ?? '1',
    },
  },
);
process.exitCode = status ?? 1;
