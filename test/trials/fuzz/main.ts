// `npm run fuzz [-- --runs 1000000 --seed 42]`: readers against references, with inputs by the million.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { properties } from './properties.js';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
});
const runs = Number(values.runs);
const firstSeed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
/** A seed is reported before its inputs are tried, so that a crash can be found again. */
const runsASeed = 20_000;

for (const [name, create] of Object.entries(properties)) {
  for (let done = 0; done < runs; done += runsASeed) {
    const seed = (firstSeed + done / runsASeed) | 0;
    process.stdout.write(`\r${name}: ${done} of ${runs}, seed ${seed} `);
    await fc.assert(create(), { numRuns: Math.min(runsASeed, runs - done), seed });
  }
  process.stdout.write(`\r${name}: ${runs} inputs, from seed ${firstSeed}: no difference\n`);
}
