import type { OpenSourceOptions, Source, SourceReading } from '../rows/source.js';
import { fileInput, isRepeatable, type ByteInput } from './byte-input.js';
import { copyToFile } from './copy-to-file.js';

/** Opens one reading of an input's rows. */
export type OpenReading = (input: ByteInput, opening: OpenSourceOptions) => Promise<SourceReading>;

/** The source whose rows are in the bytes of an input; bytes that can be read once can be kept. */
export function byteSource(input: ByteInput, openReading: OpenReading): Source {
  const kept = (path: string): Source => byteSource(fileInput(path, input.name), openReading);
  return {
    name: input.name,
    open: (opening) => openReading(input, opening),
    ...(!isRepeatable(input) && {
      async keep(path: string, signal?: AbortSignal) {
        await copyToFile(path, () => input.openReader(signal));
        return kept(path);
      },
      kept,
    }),
  };
}
