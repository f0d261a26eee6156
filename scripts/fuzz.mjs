// `npm run fuzz [-- --runs 1000000 --seed 42]`: compiles the fuzzing with the sources and runs it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compileForNode } from './compile-for-node.mjs';
import { projectRoot } from './project.mjs';

const built = compileForNode('fuzz', ['src', 'test/formats', 'test/fuzz', 'test/results']);
const { status } = spawnSync(
  process.execPath,
  [join(built, 'test', 'fuzz', 'main.js'), ...process.argv.slice(2)],
  { cwd: projectRoot, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
