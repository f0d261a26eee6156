import { describe, expect, it } from 'vitest';
import { RecordTemplates } from '../../src/results/record-templates.js';

/** @returns -2 when a record is found that ends elsewhere */
function find(templates: RecordTemplates, text: string): number {
  const bytes = new Uint8Array(Buffer.from(text));
  const outcome = templates.find(new DataView(bytes.buffer), 0, bytes.length);
  return outcome !== -1 && templates.end !== bytes.length ? -2 : outcome;
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

  it('are not found when the address is not plain: then the record has to be parsed', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"email":"a","valid":true}'), 3);
    for (const address of ['\\u0061', '\\', '\u00e9', '\n', 'b"', '\u007f', '\u0000']) {
      expect(find(templates, `{"email":"${address}","valid":true}`)).toBe(-1);
    }
  });

  it('hold fast to everything but that address', () => {
    const templates = new RecordTemplates('email');
    templates.add(Buffer.from('{"of":{"email":"a"},"email":"b","phone":"1"}'), 1);
    expect(find(templates, '{"of":{"email":"a"},"email":"x","phone":"1"}')).toBe(1);
    expect(find(templates, '{"of":{"email":"x"},"email":"b","phone":"1"}')).toBe(-1);
    expect(find(templates, '{"of":{"email":"a"},"email":"b","phone":"2"}')).toBe(-1);
  });

  it('without an address are found as they stand', () => {
    const templates = new RecordTemplates('phone');
    templates.add(Buffer.from('{"email":"a","phone":null}'), 1);
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
