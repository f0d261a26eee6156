// `node benchmarks/network-asking.mjs [--addresses 20000] [--delay 100] [--queued 1000000]`
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compileForNode } from '../scripts/compile-for-node.mjs';

const built = compileForNode('network-asking', ['src', 'benchmarks']);
const { status } = spawnSync(
  process.execPath,
  [join(built, 'benchmarks', 'network-asking.js'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
