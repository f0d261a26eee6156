import type { OutputPatience, Sink } from './sink.js';

/** Holds several outputs until what comes is called, or none. @throws as `Sink.hold` does */
export async function holdSinks(
  sinks: readonly (Sink | undefined)[],
  patience?: OutputPatience,
): Promise<() => Promise<void>> {
  const held: (() => Promise<void>)[] = [];
  const letGo = async (): Promise<void> => {
    for (const release of held) await release();
  };
  try {
    for (const sink of sinks) {
      const release = await sink?.hold?.(patience);
      if (release) held.push(release);
    }
  } catch (error) {
    await letGo();
    throw error;
  }
  return letGo;
}
