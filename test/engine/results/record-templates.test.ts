import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findTextMember,
  memberWords,
  RecordTemplates,
} from '../../../src/engine/results/record-templates.js';
import { createRandom, type OddJson, writeOddJson } from './odd-json.js';

const member = ',"key":';

/** @returns -2 when a record is found that ends elsewhere */
function find(templates: RecordTemplates, text: string): number {
  const piece = Buffer.from(`${member}${text}`);
  templates.show(piece);
  if (templates.read(0) === 0) return -1;
  const [keyStart, keyEnd, start, end, outcome] = templates.members;
  const isWhole = start === member.length && end === piece.length;
  return isWhole && keyStart === 2 && keyEnd === 5 ? (outcome ?? -2) : -2;
}

describe('records seen before', () => {
  it('are found with any plain address in the member that holds it', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"a@x.de","valid":true}'), 3);
    templates.add(Buffer.from('{"email":"","valid":false}'), 4);
    templates.add(Buffer.from('{"valid":true,"email":"a@x.de"}'), 5);
    expect(find(templates, '{"email":"somebody.else@example.com","valid":true}')).toBe(3);
    expect(find(templates, '{"email":"","valid":true}')).toBe(3);
    expect(find(templates, '{"email":"b@x.de","valid":false}')).toBe(4);
    expect(find(templates, '{"valid":true,"email":"b"}')).toBe(5);
    expect(find(templates, '{"email":"b","valid":true ')).toBe(-1);
    expect(find(templates, '{"email":"b","valid":null}')).toBe(-1);
  });

  it('are told apart by whether their address is their key to the last byte', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"a","valid":true}'), 3);
    const key = 'somebody.with.a.long.name@example.com';
    const isSame = (own: string) => {
      templates.show(Buffer.from(`,"${key}":{"email":"${own}","valid":true}`));
      expect(templates.read(0)).toBe(1);
      return templates.members[5];
    };
    expect(isSame(key)).toBe(1);
    for (let place = 0; place < key.length; place += 1) {
      const [head, tail] = [key.slice(0, place), key.slice(place)];
      const others = [head, `${head}!${tail}`, `${head}!${tail.slice(1)}`, `${key}${tail}`];
      expect(others.map(isSame)).toEqual([0, 0, 0, 0]);
    }
    // Without an address in the record nothing is said.
    templates.add(Buffer.from('{"valid":true}'), 4);
    templates.show(Buffer.from(',"":{"valid":true}'));
    expect(templates.read(0)).toBe(1);
    expect(templates.members[5]).toBe(0);
  });

  it('are not found when the address is not plain: then the record has to be parsed', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"a","valid":true}'), 3);
    for (const address of ['\\u0061', '\\', '\u00e9', '\n', 'b"', '\u007f', '\u0000']) {
      expect(find(templates, `{"email":"${address}","valid":true}`)).toBe(-1);
    }
  });

  it('hold fast to everything but that address', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"b","of":{"email":"a"},"phone":"1"}'), 1);
    expect(find(templates, '{"email":"x","of":{"email":"a"},"phone":"1"}')).toBe(1);
    expect(find(templates, '{"email":"b","of":{"email":"x"},"phone":"1"}')).toBe(-1);
    expect(find(templates, '{"email":"b","of":{"email":"a"},"phone":"2"}')).toBe(-1);
  });

  it('are not found by the address of an object inside, or by a text that looks like its name', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"a"}'), 1);
    templates.add(Buffer.from('{"of":{"email":"a"},"email":"b"}'), 2);
    templates.add(Buffer.from('{"of":[{}],"email":"b"}'), 3);
    templates.add(Buffer.from('{"of":"\\"email":"b","email":"b"}'), 4);
    expect(find(templates, '{"email":"x"}')).toBe(1);
    expect(find(templates, '{"of":{"email":"x"},"email":"b"}')).toBe(-1);
    expect(find(templates, '{"of":[{}],"email":"b"}')).toBe(3);
    expect(find(templates, '{"of":[{}],"email":"x"}')).toBe(-1);
  });

  it('are found one after another, with white space between, up to one that is new', () => {
    const templates = new RecordTemplates('email');
    for (let index = 0; index < 40; index += 1) {
      templates.add(Buffer.from(`{"email":"a","text":"${'k'.repeat(index)}"}`), index);
    }
    const keys = Array.from({ length: 2500 }, (_, index) => 'k'.repeat(index % 40));
    const members = keys.map(
      (key, at) => ` , "${key}" :\n{"email":"${key}","text":"${key}"}${at % 2 ? '' : '\t'}`,
    );
    templates.show(Buffer.from(`${members.join('')},"key":{"email":"a","text":"y"}`));
    const found: number[] = [];
    const texts: string[] = [];
    let from = 0;
    for (let count = templates.read(0); count > 0; count = templates.read(from)) {
      texts.push(templates.keys(count));
      for (let at = 0; at < count * memberWords; at += memberWords) {
        found.push(templates.members[at + 4] ?? -1);
        from = templates.members[at + 3] ?? 0;
      }
    }
    expect(found).toEqual(keys.map((key) => key.length));
    expect(texts.join('')).toBe(keys.join(''));
  });

  it('are remembered 64 in a bucket: whoever writes an export cannot make it long', () => {
    const templates = new RecordTemplates('email');
    const record = (index: number) => `{"email":"a","of":{},"n":${index}}`;
    for (let index = 0; index < 80; index += 1) templates.add(Buffer.from(record(index)), index);
    const found = Array.from({ length: 80 }, (_, index) => find(templates, record(index)));
    expect(found).toEqual(found.map((_, index) => (index < 64 ? index : -1)));
  });

  it('without an address are found as they stand', () => {
    const templates = new RecordTemplates('phone');
    templates.add(Buffer.from('{"email":"a","phone":null}'), 1);
    expect(find(templates, '{"email":"a","phone":null}')).toBe(1);
    templates.add(Buffer.from('{"phone":"+1"}'), 2);
    expect(find(templates, '{"email":"a","phone":null}')).toBe(1);
    expect(find(templates, '{"email":"b","phone":null}')).toBe(-1);
    expect(find(templates, '{"phone":"+2"}')).toBe(2);
  });

  it('are remembered up to a bound, and those before it stay known', () => {
    const templates = new RecordTemplates('email');
    const record = (index: number) => `{"email":"a","n":${index},"text":"${'x'.repeat(1000)}"}`;
    for (let index = 0; index < 15_000; index += 1) {
      templates.add(Buffer.from(record(index)), index);
    }
    expect(find(templates, record(0))).toBe(0);
    expect(find(templates, record(1000))).toBe(1000);
    expect(find(templates, record(14_999))).toBe(-1);
    templates.add(Buffer.from(`{"email":"${'x'.repeat(5000)}"}`), 1);
  });
});

function found(object: string, name = 'email'): string | undefined {
  const bytes = Buffer.from(object);
  const range = findTextMember(bytes, Buffer.from(name));
  return range && bytes.toString('utf8', range.start, range.end);
}

describe('the member that holds the address', () => {
  it.each([
    ['{"email":"a"}', 'a'],
    ['{"email":""}', ''],
    ['{ "x" : 1 , "email" : "a" }', 'a'],
    ['{"email":"a","email":"b"}', 'a'],
    ['{"email":1,"email":"b"}', 'b'],
    ['{"email":{"email":"a"},"x":"b"}', undefined],
    ['{"email":["a","b"],"email":"c"}', 'c'],
    ['{"x":["email","a"],"y":{"email":"b"}}', undefined],
    ['{"x":"email","y":"a"}', undefined],
    ['{"x":"\\"email\\":\\"a\\"","email":"b\\"c\\\\"}', 'b\\"c\\\\'],
    ['{"\\u0065mail":"a"}', undefined],
    ['{"emails":"a","mail":"b","Email":"c"}', undefined],
    ['{"a{":"}","b[":"]","c,":":","email":"d"}', 'd'],
    ['{}', undefined],
  ])('of %s is %s', (object, address) => {
    expect(found(object)).toBe(address);
  });

  it('is never one of an object inside', () => {
    const { value } = fc.letrec<{ value: OddJson }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom<OddJson>('email', '"', '\\', 'x', 1, null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(fc.constantFrom('email', '"', '{', 'y'), tie('value')), { maxLength: 3 })
          .map((members) => ({ members })),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('email', 'z', '\\"'), value), { maxLength: 4 }),
        fc.nat(),
        (members, seed) => {
          // Texts keep their plain spelling; white space comes from an odd hand around them.
          const text = writeOddJson({ members }, createRandom(seed), 0);
          const first = members.find(([key, item]) => key === 'email' && typeof item === 'string');
          expect(found(text)).toBe(first && JSON.stringify(first[1]).slice(1, -1));
        },
      ),
    );
  });
});
