import { InputError } from '../../platform/errors/errors.js';
import { invalidText } from '../rows/chunks/row-chunk.js';
import type { JoinedRows, OpenSinkOptions } from '../rows/sink.js';
import { BlockOutput } from '../files/bytes/block-output.js';
import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { RowsWriter } from '../files/rows-writer.js';
import { TxtChunk } from './txt-chunk.js';

/** Writes the verified column alone, a row a line; the lines of a TXT input as they stand. */
export class TxtWriter implements RowsWriter {
  readonly #block: BlockOutput;
  readonly #column: number;

  constructor(output: ByteOutput, { verified }: OpenSinkOptions) {
    this.#block = new BlockOutput(output);
    this.#column = verified[0] ?? 0;
  }

  async write({ chunk, from, to }: JoinedRows): Promise<void> {
    if (chunk instanceof TxtChunk) {
      this.#block.put(chunk.bytesOf(from, to));
    } else {
      const lines = Array.from({ length: to - from }, (_, at) =>
        txtLine(chunk.text(from + at, this.#column)),
      );
      this.#block.put(Buffer.from(lines.join('')));
    }
    await this.#block.settle();
  }

  async end(): Promise<void> {
    await this.#block.end();
  }
}

/**
 * A cell as a line of a TXT file.
 *
 * @throws InputError `input_malformed` for one that has no such form
 */
export function txtLine(text: ReturnType<TxtChunk['text']>): string {
  if (text === invalidText) {
    throw new InputError('the verified column holds something that a TXT file has no text for');
  }
  if (text?.includes('\n') === true) {
    throw new InputError(
      'the verified column holds a cell of several lines, which a TXT file has no form for: choose another format for the output',
    );
  }
  return `${text ?? ''}\n`;
}
