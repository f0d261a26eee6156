import { describe, expect, it } from 'vitest';
import { emailExport, phoneExport } from '../../../src/contract/records.js';
import { withService } from '../with-service.js';
import fc from 'fast-check';
import { LineBlock } from '../../../src/service/storage/line-block.js';
import { codeBytes } from '../../../src/service/storage/verdict-file.js';
import { MemberWriter } from '../../../src/service/operations/export-batch.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

const without = 'format=json&include_details=false&include_statistics=false';

describe('exporting a batch', () => {
  it('gives a record for each address, under the address as it was submitted', async () => {
    const { wire } = await withService();
    const lines = ['Good@Sluice.test', '"a b"@fjordwool.com', 'info@gmail.com', '__proto__@x.org'];
    const { batch_uuid } = await wire.verify(lines);
    const answer = await wire.get(`/v1/batch/${batch_uuid}/export?${without}`);
    expect(answer.headers['content-type']).toBe('application/json');
    const records = emailExport.parse(answer.json);
    expect(Object.keys(records)).toEqual(lines);
    for (const [address, record] of Object.entries(records)) expect(record.email).toBe(address);
    expect(records['info@gmail.com']).toEqual({
      email: 'info@gmail.com',
      valid: false,
      wrong: false,
      unknown: true,
      quality: 'unknown',
      result: 'unknown',
      is_syntax_error: false,
      is_free: true,
      is_role: true,
      is_disposable: false,
      is_catch_all: false,
    });
  });

  it('gives phone records with every field', async () => {
    const { wire } = await withService();
    const { batch_uuid } = await wire.verify(['202-555-0143', '+999004123456'], { type: 'phone' });
    const records = phoneExport.parse(
      (await wire.get(`/v1/batch/${batch_uuid}/export?${without}`)).json,
    );
    expect(records).toEqual({
      '202-555-0143': {
        phone: '202-555-0143',
        valid: true,
        wrong: false,
        unknown: false,
        type: 'fixed_line_or_mobile',
        status: 'unknown',
        is_syntax_error: false,
        is_ported: false,
        current_network_mcc: null,
        current_network_mnc: null,
        operator: null,
      },
      '+999004123456': {
        phone: '+999004123456',
        valid: true,
        wrong: false,
        unknown: false,
        type: 'mobile',
        status: 'active',
        is_syntax_error: false,
        is_ported: true,
        current_network_mcc: '999',
        current_network_mnc: '99',
        operator: 'Sluice Test Two',
      },
    });
  });

  it('has details and statistics at its end unless they are not wanted', async () => {
    const { wire } = await withService();
    const { batch_uuid } = await wire.verify(['good@sluice.test'], { name: 'mine' });
    const keys = async (query: string) =>
      Object.keys((await wire.get(`/v1/batch/${batch_uuid}/export?format=json${query}`)).json);
    expect(await keys('')).toEqual(['good@sluice.test', 'details', 'statistics']);
    expect(await keys('&include_details=false')).toEqual(['good@sluice.test', 'statistics']);
    expect(await keys('&include_statistics=false')).toEqual(['good@sluice.test', 'details']);
    const whole = (await wire.get(`/v1/batch/${batch_uuid}/export?format=json`)).json;
    expect(whole.details).toMatchObject({
      batch_uuid,
      name: 'mine',
      parameters: { type: 'email' },
    });
    expect(whole.statistics.results.valid).toBe(1);
  });

  it('is a whole object for 60,000 addresses, each with its own verdict', async () => {
    const { wire } = await withService();
    const lines = Array.from({ length: 60_000 }, (_, at) =>
      at % 3 === 0 ? `bad${at}@sluice.test` : `good${at}@sluice.test`,
    );
    const { batch_uuid, results } = await wire.verify(lines);
    expect(results).toMatchObject({ total: 60_000, valid: 40_000, wrong: 20_000 });
    const records = await wire.records(batch_uuid);
    expect(Object.keys(records)).toEqual(lines);
    expect(lines.filter((line) => records[line]?.['wrong'] !== line.startsWith('bad'))).toEqual([]);
  });

  it('has each address once, also when duplicates were kept', async () => {
    const { wire } = await withService();
    const { batch_uuid, cost } = await wire.verify(
      ['good@sluice.test', 'GOOD@sluice.test', 'good@sluice.test'],
      { remove_duplicate: 'false' },
    );
    expect(cost.total_email_cost).toBe(3);
    const { text } = await wire.get(`/v1/batch/${batch_uuid}/export?${without}`);
    expect(text.match(/"good@sluice\.test":/g)).toHaveLength(1);
    expect(text.match(/"GOOD@sluice\.test":/g)).toHaveLength(1);
  });

  it.each(['', 'format=csv', 'format=json&include_details=perhaps'])(
    'refuses ?%s',
    async (query) => {
      const { wire } = await withService();
      const { batch_uuid } = await wire.verify(['good@sluice.test']);
      expect((await wire.get(`/v1/batch/${batch_uuid}/export?${query}`)).status).toBe(422);
    },
  );
});

function blockOf(lines: readonly string[]): LineBlock {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const bounds: number[] = [];
  for (let begin = 0; begin < bytes.length; begin = (bounds.at(-1) ?? 0) + 1) {
    bounds.push(begin, bytes.indexOf('\n', begin));
  }
  return new LineBlock(bytes, Uint32Array.from(bounds), lines.length);
}

/** All that a writer writes of some lines; the codes of their verdicts go round. */
function written(lines: readonly string[], endings: readonly string[]): string {
  const writer = new MemberWriter('email', endings);
  const codes = Buffer.alloc(lines.length * codeBytes);
  for (const at of lines.keys()) codes.writeUInt16LE(at % endings.length, at * codeBytes);
  const block = blockOf(lines);
  let text = '';
  for (let next = 0; next < lines.length;) {
    next = writer.write(block, codes, next);
    text += Buffer.from(writer.written).toString();
    writer.clear();
  }
  writer.end();
  return text;
}

function expected(lines: readonly string[], endings: readonly string[]): string {
  return lines
    .map((line, at) => {
      const key = JSON.stringify(line);
      return `${key}:{"email":${key},${endings[at % endings.length]}`;
    })
    .join(',');
}

describe('records written as bytes', () => {
  it('are what JSON.stringify writes', () => {
    const line = fc
      .string({
        unit: fc.oneof(
          fc.constantFrom('a', '@', '"', '\\', '\u0001', '\u007F', '\u2028', 'é', '😀', '/'),
          unicodeText({ minLength: 1, maxLength: 1 }),
        ),
        minLength: 1,
        maxLength: 12,
      })
      .map((text) => text.replaceAll('\n', 'x'));
    const endings = ['"valid":true}', '"operator":"é\\""}'];
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (lines) => {
        expect(written(lines, endings)).toBe(expected(lines, endings));
      }),
      { numRuns: 400 },
    );
  });

  it('fill piece after piece, and are written though one is larger than a piece', () => {
    const lines = Array.from({ length: 30_000 }, (_, at) => `user${at}@x.example`);
    const endings = ['"valid":true}', `"operator":"${'long'.repeat(100)}"}`];
    expect(written(lines, endings) === expected(lines, endings)).toBe(true);
    const huge = [`"operator":"${'x'.repeat(300_000)}"}`];
    expect(written(lines.slice(0, 3), huge) === expected(lines.slice(0, 3), huge)).toBe(true);
  });
});
