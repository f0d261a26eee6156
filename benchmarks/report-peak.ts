// Loaded into a program that is measured: leaves its peak memory in a file when it ends.
import { writeFileSync } from 'node:fs';
import { peakBytes } from './harness/peak-bytes.js';

const file = process.env['SLUICE_BENCHMARK_PEAK'];
if (file !== undefined) process.on('exit', () => writeFileSync(file, String(peakBytes())));
