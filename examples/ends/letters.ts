// A source of your own: one chunk of rows.
import type { CellText, RowChunk, Source } from 'sluice';

class Letters implements RowChunk {
  readonly length = 26;
  readonly byteSize = 26;

  text(row: number): CellText {
    return `${String.fromCharCode(97 + row)}@example.org`;
  }
}

export const letters: Source = {
  name: 'letters',
  async open(options) {
    options.wanted(['email']);
    return { header: ['email'], chunks: oneChunk(options.signal) };
  },
};

async function* oneChunk(signal?: AbortSignal) {
  signal?.throwIfAborted();
  yield new Letters();
}
