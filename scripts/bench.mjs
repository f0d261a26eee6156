// `npm run bench [-- --quick] [-- <question> …]`: compiles the benchmarks with the sources and runs them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from './project.mjs';
import { compileForNode } from './compile-for-node.mjs';

const built = compileForNode('benchmarks', ['src', 'benchmarks']);
const { status } = spawnSync(
  process.execPath,
  [join(built, 'benchmarks', 'main.js'), ...process.argv.slice(2)],
  { cwd: projectRoot, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
