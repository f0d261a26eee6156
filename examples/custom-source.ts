// A durable run over a source of your own: killed at any moment, the same call resumes.
// npx tsx examples/custom-source.ts <output.csv>
import {
  Client,
  fileSink,
  run,
  type CellText,
  type OpenSourceOptions,
  type RowChunk,
  type Source,
} from 'sluice';
import { createService } from 'sluice/service';

/** Rows that a counter makes; a database cursor looks the same. */
class NumberedRows implements RowChunk {
  readonly length: number;
  readonly #first: number;

  constructor(first: number, length: number) {
    this.#first = first;
    this.length = length;
  }

  get byteSize(): number {
    return this.length * 32;
  }

  text(row: number, column: number): CellText {
    const number = this.#first + row;
    return column === 0 ? String(number) : `good+${number}@sluice.test`;
  }
}

const source: Source = {
  name: 'numbered rows',
  async open(options: OpenSourceOptions) {
    const header = ['id', 'email'];
    options.wanted(header);
    return { header, chunks: makeChunks(options.signal) };
  },
};

async function* makeChunks(signal?: AbortSignal): AsyncGenerator<RowChunk> {
  for (let first = 1; first <= 1000; first += 100) {
    signal?.throwIfAborted();
    yield new NumberedRows(first, 100);
  }
}

const [output = 'verified.csv'] = process.argv.slice(2);
const service = await createService();
const client = new Client(service);
try {
  const summary = await run({
    source,
    sink: fileSink(output),
    client,
    stateDir: `${output}.sluice`,
    email: ['email'],
    country: 'US',
    pollIntervalMs: 20,
  });
  console.log(`${summary.rows} rows, ${summary.email?.buckets.verified} verified`);
} finally {
  await client.close();
  await service.close();
}
