import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Watches a folder that comes and goes; `stop` tells the most bytes that its files had together. */
export function watchSize(folder: string): { stop(): number } {
  let mostBytes = 0;
  const timer = setInterval(() => (mostBytes = Math.max(mostBytes, sizeOf(folder))), 100);
  return {
    stop() {
      clearInterval(timer);
      return mostBytes;
    },
  };
}

function sizeOf(folder: string): number {
  try {
    const files = readdirSync(folder, { recursive: true }).map((name) =>
      join(folder, String(name)),
    );
    return files.reduce((sum, path) => sum + statSync(path).size, 0);
  } catch {
    // It is not there, or something in it has just gone.
    return 0;
  }
}
