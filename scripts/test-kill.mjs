// `npm run test:kill [-- --kills 2000]`: the command killed at every write of its journal, and at
// random moments.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { projectRoot } from './project.mjs';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '300' } } });
const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'vitest.kill.config.ts'], {
  cwd: projectRoot,
  stdio: 'inherit',
  env: { ...process.env, SLUICE_KILLS: values.kills },
});
process.exitCode = status ?? 1;
