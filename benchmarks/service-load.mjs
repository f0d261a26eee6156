// `node benchmarks/service-load.mjs [--seconds 60] [--clients 64] [--addresses 1000000]`
import { runCompiled } from '../scripts/run-compiled.mjs';

runCompiled('service-load', ['src', 'benchmarks'], 'benchmarks/service-load.js');
