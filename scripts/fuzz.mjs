// `npm run fuzz [-- --runs 1000000 --seed 42]`: compiles the fuzzing with the sources and runs it.
import { runCompiled } from './run-compiled.mjs';

runCompiled(
  'fuzz',
  ['src', 'test/lists', 'test/fuzz', 'test/engine/results', 'test/platform/text'],
  'test/fuzz/main.js',
);
