// `npm run fuzz [-- --runs 1000000 --seed 42]`: compiles the fuzzing with the sources and runs it.
import { runCompiled } from './run-compiled.mjs';

runCompiled(
  'fuzz',
  ['src', 'test/formats', 'test/fuzz', 'test/results', 'test/words'],
  'test/fuzz/main.js',
);
