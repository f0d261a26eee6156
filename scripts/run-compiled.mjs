// Compiles a program of this project and runs it: `run-compiled <program> [its arguments]`, whose exit code is its own.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compileForNode } from './tests/compiled-sources.mjs';
import { buildIfStale } from './build/dist.mjs';
import { projectRoot } from './project.mjs';

/** Programs by their names: the folders that they need, and whether they run what is built. */
const programs = {
  bench: {
    folders: ['src', 'benchmarks', 'test/servers', 'test/client'],
    main: 'benchmarks/main.js',
    runsBuilt: true,
  },
  'network-asking': {
    folders: ['src', 'benchmarks'],
    main: 'benchmarks/network-asking.js',
    runsBuilt: true,
  },
  'service-load': {
    folders: ['src', 'benchmarks'],
    main: 'benchmarks/service-load.js',
    runsBuilt: true,
  },
  simulation: {
    folders: ['src', 'test/trials/simulation'],
    main: 'test/trials/simulation/main.js',
  },
  fuzz: {
    folders: ['src', 'test/lists', 'test/trials/fuzz', 'test/engine/results', 'test/platform/text'],
    main: 'test/trials/fuzz/main.js',
  },
};

const [name, ...args] = process.argv.slice(2);
const { folders, main, runsBuilt } = programs[name];
if (runsBuilt) await buildIfStale();
const built = compileForNode(name, folders);
const { status } = spawnSync(process.execPath, [join(built, main), ...args], {
  cwd: projectRoot,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
