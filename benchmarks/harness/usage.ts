import { readFile } from 'node:fs/promises';

/** What a program used from its start to its end, in all its threads. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

const module = new URL('../report-usage.js', import.meta.url).href;

/** How a program is started that leaves in a file what it used. */
export function reportingTo(file: string): {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
} {
  return { args: ['--import', module], env: { SLUICE_BENCHMARK_USAGE: file } };
}

export async function usageIn(file: string): Promise<Usage> {
  // Our own module wrote it.
  return JSON.parse(await readFile(file, 'utf8')) as Usage;
}
