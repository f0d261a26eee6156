/** How long work takes, in seconds, and what it gives. */
export async function timed<T>(
  work: () => Promise<T> | T,
): Promise<{ readonly seconds: number; readonly result: T }> {
  const startedMs = performance.now();
  const result = await work();
  return { seconds: (performance.now() - startedMs) / 1000, result };
}
