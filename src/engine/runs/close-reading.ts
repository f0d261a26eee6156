import type { SourceReading } from '../../lists/rows/source.js';

/** Lets go of a reading whose rows are not asked for. */
export async function closeReading(reading: SourceReading): Promise<void> {
  await reading.chunks[Symbol.asyncIterator]().return?.();
}
