import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { readExport } from '../../../src/engine/results/export-parser.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { heldBytes } from '../../platform/held-bytes.js';
import { anyMember, anyText, expectedRecords } from './any-export.js';
import { anyEdit, base, change, read, reference, retold } from './changed-export.js';
import {
  bodyOf,
  cutAt,
  cutEvery,
  emailRecordOf,
  emailValues,
  readChunks,
  readText,
} from './export-reading.js';
import { createRandom, writeOddJson } from './odd-json.js';

describe('any legal export', () => {
  it.each(['email', 'phone'] as const)(
    'gives the %s records that JSON.parse gives, wherever it is cut',
    async (type) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyMember(type), { maxLength: 8 }),
          fc.nat(),
          fc.constantFrom(0, 0, 0.2, 0.6),
          fc.array(fc.nat(4000), { maxLength: 12 }),
          async (members, seed, oddness, cuts) => {
            const text = writeOddJson({ members }, createRandom(seed), oddness);
            const plain = members.map(
              ([key, value]) =>
                [key, JSON.parse(writeOddJson(value, createRandom(1), 0)) as unknown] as const,
            );
            const expected = expectedRecords(type, plain);
            // The reference itself: of members of one name it keeps the last.
            const parsed = Object.entries(JSON.parse(text) as Record<string, unknown>);
            expect(new Map(parsed)).toEqual(new Map(plain));
            const bytes = Buffer.from(text);
            const others = members.length - expected.length;
            for (const chunks of [[bytes], cutAt(bytes, cuts), cutEvery(bytes, 1)]) {
              const reading = await readChunks(chunks, { type });
              expect(reading.found).toEqual(expected);
              expect(reading).toMatchObject({
                records: expected.length,
                others,
                bytes: bytes.length,
              });
            }
          },
        ),
        { numRuns: 150 },
      );
    },
  );

  it('tells of each record whose own address is not its key, by whichever byte or length', async () => {
    const flags = '"valid":true,"wrong":false,"unknown":false';
    const forms = [
      (own: string) => `{"email":"${own}",${flags}}`,
      (own: string) => `{${flags},"of":"x","email":"${own}"}`,
      (own: string) => `{"of":{"email":"k"},"email":"${own}",${flags}}`,
      (own: string) => `{"email":"${own}","email":"k",${flags}}`,
    ];
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '@', '.'), maxLength: 40 });
    const changed = fc.tuple(
      text,
      fc.nat(40),
      fc.constantFrom('same', 'byte', 'longer', 'shorter'),
    );
    const member = fc
      .tuple(changed, fc.nat(forms.length - 1))
      .map(([[key, place, change], form]) => {
        const [head, tail] = [key.slice(0, place), key.slice(place)];
        const owns = { same: key, byte: `${head}c${tail.slice(1)}`, longer: `${head}c${tail}` };
        return [key, change === 'shorter' ? head : owns[change], form] as const;
      });
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { minLength: 1, maxLength: 60 }),
        fc.array(fc.nat(4000), { maxLength: 3 }),
        async (members, cuts) => {
          const written = members.map(([key, own, form]) => `"${key}":${forms[form]?.(own)}`);
          const told: [string, string | undefined][] = [];
          await readChunks(cutAt(Buffer.from(`{${written.join(',')}}`), cuts), {
            onRecord: (key, _, own) => told.push([key, own]),
          });
          expect(told).toEqual(members.map(([key, own]) => [key, own === key ? undefined : own]));
        },
      ),
    );
  });

  it('gives the same records of one shape with other addresses, compact or spaced', async () => {
    const shapes = [
      (email: string) => emailRecordOf(email),
      (email: string) => emailRecordOf(email, { valid: false, wrong: true, quality: 'bad' }),
      (email: string) => ({ ...emailRecordOf('', { note: { email: 'x"' } }), email }),
      (email: string) => {
        const { email: _, ...rest } = emailRecordOf(email, { is_free: true });
        return { ...rest, email };
      },
      () => {
        const { email: _, ...rest } = emailRecordOf('', { quality: 'risky' });
        return rest;
      },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyText, anyText, fc.nat(shapes.length - 1)), { maxLength: 40 }),
        fc.constantFrom(undefined, 1, '\t'),
        fc.array(fc.nat(10_000), { maxLength: 5 }),
        async (rows, indent, cuts) => {
          const members = rows.map(([key, email, shape]) => [key, shapes[shape]?.(email)] as const);
          const body = members.map(
            ([key, record]) => `${JSON.stringify(key)}:${JSON.stringify(record, null, indent)}`,
          );
          const bytes = Buffer.from(`{${body.join(indent === undefined ? ',' : ' ,\n')}}`);
          const { found } = await readChunks(cutAt(bytes, cuts));
          expect(found).toEqual(expectedRecords('email', members));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('parses one record of each shape, whatever its address and its values', async () => {
    for (const [indent, comma] of [
      [undefined, ','],
      [2, ',\n'],
    ] as const) {
      const outcomes = new OutcomeTable();
      const parsed = vi.spyOn(outcomes, 'idOfRecord');
      const members = Array.from({ length: 3000 }, (_, index) => {
        const record = emailRecordOf(`Name${index}@example.com`, { is_free: index % 3 === 0 });
        return `"name${index}@example.com":${JSON.stringify(record, null, indent)}`;
      });
      const reading = await readText(`{${members.join(comma)}}`, { outcomes });
      expect(reading.records).toBe(3000);
      expect(parsed).toHaveBeenCalledTimes(1);
      expect(outcomes.size).toBe(2);
    }
  });

  it('goes on reading when there are more distinct records than it remembers', async () => {
    const members = Array.from({ length: 12_000 }, (_, index) => {
      const record = emailRecordOf(`n${index}@example.com`, { checked: `at ${index}` });
      return `"n${index}@example.com":${JSON.stringify(record)}`;
    });
    const { found } = await readChunks(cutEvery(Buffer.from(`{${members.join(',')}}`), 65_536));
    expect(found).toEqual(members.map((_, index) => [`n${index}@example.com`, emailValues()]));
  });
});

describe('a record', () => {
  it('is reported every time its key comes', async () => {
    const [first, second] = [emailRecordOf('a'), emailRecordOf('a', { quality: 'bad' })];
    const text = `{"a":${JSON.stringify(first)},"a":${JSON.stringify(second)},"a":${JSON.stringify(first)}}`;
    expect((await readText(text)).found).toEqual([
      ['a', emailValues()],
      ['a', emailValues({ quality: 'bad' })],
      ['a', emailValues()],
    ]);
  });

  it('holds of repeated members the last, as JSON.parse has it', async () => {
    const record = '{"valid":1,"email":"a","wrong":false,"unknown":false,"email":"b","valid":true}';
    const text = `{"a":${record},"b":${record.replace('"a"', '"cd"')},"c":${record}}`;
    const { found } = await readText(text);
    const nothing = Array.from({ length: 7 }, () => null);
    expect(found).toEqual(['a', 'b', 'c'].map((key) => [key, [true, false, false, ...nothing]]));
  });

  it('may be called by the name of anything that objects have', async () => {
    const record = JSON.stringify(emailRecordOf('x'));
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''];
    const text = `{${names.map((name) => `"${name}":${record}`).join(',')}}`;
    expect((await readText(text)).found.map(([key]) => key)).toEqual(names);
  });

  it('has only the fields that it holds itself', async () => {
    const flags = '"valid":true,"wrong":false,"unknown":false';
    const text = `{"a":{"__proto__":{${flags}}},"b":{${flags},"__proto__":{"quality":"good"}}}`;
    const { found, others } = await readText(text);
    expect(others).toBe(1);
    expect(found).toEqual([['b', [true, false, false, ...Array.from({ length: 7 }, () => null)]]]);
  });

  it('is read when its text is no valid UTF-8', async () => {
    const record = JSON.stringify(emailRecordOf('a', { quality: 'x?y' }));
    const bytes = Buffer.from(`{"a":${record},"b":${record}}`);
    bytes.forEach((byte, at) => {
      if (byte === 0x3f) bytes[at] = 0xe9;
    });
    const values = emailValues({ quality: 'x\ufffdy' });
    expect((await readChunks([bytes])).found).toEqual([
      ['a', values],
      ['b', values],
    ]);
  });
});

describe('a body', () => {
  it('may come in chunks of any kind, empty ones among them', async () => {
    const text = `{"a":${JSON.stringify(emailRecordOf('a'))}}`;
    const inner = new Uint8Array(Buffer.from(`##${text}##`)).subarray(2, -2);
    const none = new Uint8Array(0);
    const outcomes = new OutcomeTable();
    const onRecord = vi.fn<(address: string, id: number) => void>();
    const body = bodyOf([none, inner.subarray(0, 9), none, inner.subarray(9), none]);
    const counts = await readExport(body, { type: 'email', outcomes, onRecord });
    expect(counts).toEqual({
      records: 1,
      unwanted: 0,
      others: 0,
      malformed: 0,
      bytes: text.length,
    });
    expect(onRecord.mock.calls).toEqual([['a', 0, undefined]]);
  });
});

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

  it('are recognized from records by the flags, not by their names', async () => {
    const text = `{"details":${record},"statistics":{"valid":1,"wrong":false,"unknown":false}}`;
    expect((await readText(text)).found).toEqual([['details', emailValues()]]);
  });

  it('larger than memory should hold are scanned and never collected', async () => {
    const chunk = Buffer.from(
      `"key \\u00e9": {"n": [1, 2.5, "${'text '.repeat(40)}"]},\n`.repeat(300),
    );
    const times = Math.ceil(2 ** 24 / chunk.length);
    let mostRetained = 0;
    const before = heldBytes();
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`{"details":{`);
      for (let index = 0; index < times; index += 1) {
        yield chunk;
        if (index % 32 > 0) continue;
        mostRetained = Math.max(mostRetained, heldBytes() - before);
      }
      yield Buffer.from(`"end":0},"a@example.com":${record}}`);
    }
    const outcomes = new OutcomeTable();
    const onRecord = vi.fn<(address: string, id: number) => void>();
    const counts = await readExport(body(), { type: 'email', outcomes, onRecord });
    expect(counts).toMatchObject({ records: 1, others: 1 });
    expect(counts.bytes).toBeGreaterThan(2 ** 24);
    expect(onRecord.mock.calls).toEqual([['a@example.com', 0, undefined]]);
    // One record at most, with room to double.
    expect(mostRetained).toBeLessThan(4 * 2 ** 20);
  });

  it('are what a record becomes that is longer than a record may be', async () => {
    const long = JSON.stringify(emailRecordOf('a@example.com', { note: 'x'.repeat(1_048_576) }));
    const text = `{"a":${record},"b":${long},"c":${record},"d":${long}}`;
    for (const length of [101, text.length]) {
      const chunks = cutEvery(Buffer.from(text), length);
      const reading = await readChunks(chunks);
      expect(reading.found.map(([key]) => key)).toEqual(['a', 'c']);
      expect(reading.others).toBe(2);
    }
  });
});

describe('an export with bytes changed at random', () => {
  it('is read or refused as JSON.parse would, whichever byte gives way to whichever sign', async () => {
    const alike = base.subarray(0, base.indexOf(',"d"'));
    for (let place = 0; place < alike.length; place += 1) {
      for (const byte of Buffer.from('"\\{}[],:; 0e\n\u0000')) {
        const bytes = Buffer.concat([alike, Buffer.from('}')]);
        bytes[place] = byte;
        expect(retold(await read(bytes, bytes.length), reference(bytes))).toEqual(reference(bytes));
      }
    }
  });

  // test/trials/fuzz/ reads exports with such edits in every way.
  it('is still legal often enough, and broken often enough', () => {
    const edited = fc.sample(fc.array(anyEdit, { minLength: 1, maxLength: 3 }), 2000);
    const refused = edited.filter((edits) => reference(change(edits)) === 'refused');
    expect(refused.length).toBeGreaterThan(50);
    expect(edited.length - refused.length).toBeGreaterThan(50);
  });
});
