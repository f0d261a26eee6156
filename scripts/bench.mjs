// `npm run bench [-- --quick] [-- <question> …]`: compiles the benchmarks with the sources and runs them.
import { buildIfStale } from './dist.mjs';
import { runCompiled } from './run-compiled.mjs';

await buildIfStale();
runCompiled(
  'benchmarks',
  ['src', 'benchmarks', 'test/servers', 'test/client'],
  'benchmarks/main.js',
);
