import fc from 'fast-check';

// Properties try the same inputs each time. With SLUICE_DRAW=1 fast-check draws others, and prints the seed of
// what fails: with SLUICE_SEED=<seed> they are the same again.
if (process.env['SLUICE_DRAW'] !== '1') {
  fc.configureGlobal({ seed: Number(process.env['SLUICE_SEED'] ?? 1) });
}
