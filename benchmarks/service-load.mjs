// `node benchmarks/service-load.mjs [--seconds 60] [--clients 64] [--addresses 1000000]`
import { buildIfStale } from '../scripts/dist.mjs';
import { runCompiled } from '../scripts/run-compiled.mjs';

await buildIfStale();
runCompiled('service-load', ['src', 'benchmarks'], 'benchmarks/service-load.js');
