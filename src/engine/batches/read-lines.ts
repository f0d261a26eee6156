import { StringDecoder } from 'node:string_decoder';
import type { Batch } from './batch.js';

/** The lines of a batch, which has a line end behind each. */
export async function* readLines(batch: Batch): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of batch.open()) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
