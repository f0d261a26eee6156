// `npm run test:simulation [-- --seeds 10000 | --seed 42 | --pairs all | --pairs 400 | --pair 7 | --copies 10
// | --shared 1000 | --shared-seed 7]`: durable runs in a simulated world, and the story of one seed or
// one pair of faults.
import { runCompiled } from './run-compiled.mjs';

runCompiled('simulation', ['src', 'test/simulation'], 'test/simulation/main.js');
