// `node benchmarks/network-asking.mjs [--addresses 20000] [--delay 100] [--queued 1000000]`
import { buildIfStale } from '../scripts/dist.mjs';
import { runCompiled } from '../scripts/run-compiled.mjs';

await buildIfStale();
runCompiled('network-asking', ['src', 'benchmarks'], 'benchmarks/network-asking.js');
