// `node benchmarks/service-load.mjs [--seconds 60] [--clients 64] [--addresses 1000000]`
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compileForNode } from '../scripts/compile-for-node.mjs';

const built = compileForNode('service-load', ['src', 'benchmarks']);
const { status } = spawnSync(
  process.execPath,
  [join(built, 'benchmarks', 'service-load.js'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
