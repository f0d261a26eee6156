// Loaded into a program that is measured: leaves what it used in a file when it ends.
import { writeFileSync } from 'node:fs';
import { peakBytes } from './harness/peak-bytes.js';
import type { Usage } from './harness/usage.js';

const file = process.env['SLUICE_BENCHMARK_USAGE'];
if (file !== undefined) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuSeconds: (user + system) / 1_000_000, peakBytes: peakBytes() };
    writeFileSync(file, JSON.stringify(usage));
  });
}
