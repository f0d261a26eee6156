import { readFileSync } from 'node:fs';

/**
 * Most memory that this process has had resident. Where the system tells it of the process itself, that
 * counts: `maxRSS` of a child begins with what its parent had.
 */
export function peakBytes(): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // Not on Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}
