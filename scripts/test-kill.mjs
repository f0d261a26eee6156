// `npm run test:kill [-- --kills 2000 | --copies 200 | --shared 1000 | --parts 2]`: the command killed at every
// write of its journal (of so many parts: one, drawn), and at random moments; its state directory copied at
// random moments and gone on with on both machines; the processes of shared runs killed and frozen.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { projectRoot } from './project.mjs';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    copies: { type: 'string' },
    shared: { type: 'string' },
    parts: { type: 'string' },
  },
});
// Asked for some of them, the others are not what is wanted.
const only = [
  ...(values.kills === undefined ? [] : ['journal-kills', 'random-kills']),
  ...(values.copies === undefined ? [] : ['copied-state']),
  ...(values.shared === undefined ? [] : ['shared-kills']),
];
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'vitest.kill.config.ts', ...only],
  {
    cwd: projectRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      SLUICE_KILLS: values.kills ?? '300',
      SLUICE_COPIES: values.copies ?? '20',
      SLUICE_SHARED_KILLS: values.shared ?? '40',
      SLUICE_KILL_PARTS: values.parts ?? '1',
    },
  },
);
process.exitCode = status ?? 1;
