import { describe, expect, it, vi } from 'vitest';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { readExport } from '../../../src/engine/results/read-export.js';
import { cutEvery, emailRecordOf, emailValues, readChunks, readText } from './export-reading.js';

describe('sections', () => {
  const record = JSON.stringify(emailRecordOf('a@example.com'));
  const section = JSON.stringify({
    'b@example.com': emailRecordOf('b@example.com'),
    rows: [{ 'c@example.com': emailRecordOf('c@example.com') }, 'text', 1.5e-7, null, true],
  });

  it('are passed over in front, between and at the end', async () => {
    const text = `{"details":${section},"a@example.com":${record},"statistics":${section},
      "d@example.com":${record},"total":2,"list":[${section}],"none":null,"text":"${'x'.repeat(99)}"}`;
    for (const length of [1, 7, text.length]) {
      const reading = await readChunks(cutEvery(Buffer.from(text), length));
      expect(reading).toMatchObject({ records: 2, others: 6 });
      expect(reading.found.map(([key]) => key)).toEqual(['a@example.com', 'd@example.com']);
    }
  });

  it('are told from records by the flags, not by their names', async () => {
    const text = `{"details":${record},"statistics":{"valid":1,"wrong":false,"unknown":false}}`;
    expect((await readText(text)).found).toEqual([['details', emailValues()]]);
  });

  it('larger than memory should hold are scanned and never collected', async () => {
    const chunk = Buffer.from(
      `"key \\u00e9": {"n": [1, 2.5, "${'text '.repeat(40)}"]},\n`.repeat(300),
    );
    const times = Math.ceil(2 ** 24 / chunk.length);
    let mostRetained = 0;
    const before = process.memoryUsage().arrayBuffers;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`{"details":{`);
      for (let index = 0; index < times; index += 1) {
        yield chunk;
        if (index % 32 > 0) continue;
        mostRetained = Math.max(mostRetained, process.memoryUsage().arrayBuffers - before);
      }
      yield Buffer.from(`"end":0},"a@example.com":${record}}`);
    }
    const outcomes = new OutcomeTable();
    const onRecord = vi.fn<(address: string, id: number) => void>();
    const counts = await readExport(body(), { type: 'email', outcomes, onRecord });
    expect(counts).toMatchObject({ records: 1, others: 1 });
    expect(counts.bytes).toBeGreaterThan(2 ** 24);
    expect(onRecord.mock.calls).toEqual([['a@example.com', 0]]);
    // One record at most, with room to double.
    expect(mostRetained).toBeLessThan(4 * 2 ** 20);
  });

  it('are what a record becomes that is longer than a record may be', async () => {
    const long = JSON.stringify(emailRecordOf('a@example.com', { note: 'x'.repeat(300) }));
    const text = `{"a":${record},"b":${long},"c":${record},"d":${long}}`;
    for (const length of [1, 50, text.length]) {
      const chunks = cutEvery(Buffer.from(text), length);
      const reading = await readChunks(chunks, { maxRecordBytes: 400 });
      expect(reading.found.map(([key]) => key)).toEqual(['a', 'c']);
      expect(reading.others).toBe(2);
    }
  });
});
