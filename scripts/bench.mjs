// `npm run bench [-- --quick] [-- <question> …]`: compiles the benchmarks with the sources and runs them.
import { runCompiled } from './run-compiled.mjs';

runCompiled('benchmarks', ['src', 'benchmarks', 'test/servers'], 'benchmarks/main.js');
