import exceljs from 'exceljs';
import { describe, expect, it } from 'vitest';
import { loadExceljs, safeCell } from '../../../src/service/operations/export-workbook.js';
import type { Service } from '../../../src/service/index.js';
import { withService } from '../with-service.js';

/** Fetches a workbook and reads it whole, as the program of a person would. */
async function workbookOf(
  service: Service,
  uuid: string,
): Promise<{ readonly type: string | null; sheet(name: string): readonly (readonly unknown[])[] }> {
  const answer = await fetch(`${service.baseUrl}/v1/batch/${uuid}/export?format=xlsx`, {
    headers: { 'X-Api-Key': service.apiKey },
  });
  expect(answer.status).toBe(200);
  const workbook = new exceljs.Workbook();
  await workbook.xlsx.load(await answer.arrayBuffer());
  return {
    type: answer.headers.get('content-type'),
    sheet(name) {
      const rows: unknown[][] = [];
      workbook.getWorksheet(name)?.eachRow((row) => {
        rows.push((row.values as unknown[]).slice(1));
      });
      return rows;
    },
  };
}

describe('an export as a spreadsheet', () => {
  it('has a sheet for people and one of statistics', async () => {
    const { service, wire } = await withService();
    const { batch_uuid } = await wire.verify(['good@sluice.test', 'role.bad@sluice.test'], {
      name: '=HYPERLINK("http://evil.example")',
    });
    const workbook = await workbookOf(service, batch_uuid);
    expect(workbook.type).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(workbook.sheet('Results')).toEqual([
      [
        'Email',
        'Verdict',
        'Quality',
        'Result',
        'Syntax error',
        'Free provider',
        'Role',
        'Disposable',
        'Catch-all',
      ],
      ['good@sluice.test', 'valid', 'good', 'ok', 'no', 'no', 'no', 'no', 'no'],
      ['role.bad@sluice.test', 'wrong', 'bad', 'invalid', 'no', 'no', 'yes', 'no', 'no'],
    ]);
    const statistics = new Map(
      workbook.sheet('Statistics').map(([what, value]) => [what, value] as const),
    );
    expect(statistics.get('Batch')).toBe('\'=HYPERLINK("http://evil.example")');
    expect(statistics.get('Batch UUID')).toBe(batch_uuid);
    expect(statistics.get('parsing counts: valid email')).toBe(2);
    expect(statistics.get('cost: net email cost')).toBe(2);
    expect(statistics.get('results: quality: bad')).toBe(1);
  });

  it('writes phones as they are, and whatever else could run as text', async () => {
    const { service, wire } = await withService();
    const lines = ['+999001123456', '=1+1', '@SUM(A1)', '-2', '+1-800-FLOWERS'];
    const { batch_uuid } = await wire.verify(lines, {
      type: 'phone',
      remove_wrong_phone_format: 'false',
    });
    const results = (await workbookOf(service, batch_uuid)).sheet('Results');
    expect(results.slice(1).map(([phone]) => phone)).toEqual([
      '+999001123456',
      "'=1+1",
      "'@SUM(A1)",
      "'-2",
      "'+1-800-FLOWERS",
    ]);
    expect(results[1]).toEqual([
      '+999001123456',
      'valid',
      'mobile',
      'active',
      'no',
      'no',
      '999',
      '99',
      'Sluice Test',
    ]);
  });

  it('is whole for 2,000 addresses, in their order', async () => {
    const { service, wire } = await withService();
    const lines = Array.from({ length: 2_000 }, (_, at) => `good${at}@sluice.test`);
    const { batch_uuid } = await wire.verify(lines);
    const results = (await workbookOf(service, batch_uuid)).sheet('Results');
    expect(results.slice(1).map(([email]) => email)).toEqual(lines);
  });

  it('of a batch without addresses is a workbook too', async () => {
    const { service, wire } = await withService();
    const { batch_uuid } = await wire.verify(['nothing that is an address']);
    expect((await workbookOf(service, batch_uuid)).sheet('Results')).toHaveLength(1);
  });

  it('needs exceljs, and says how to install it', async () => {
    const missing = Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(loadExceljs(async () => Promise.reject(missing))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/npm install exceljs@4.4.0.*"traverse": "0.3.9"/) as unknown,
    });
    // One that is there and broken is a defect.
    const broken = async () => Promise.reject(new Error('broken'));
    await expect(loadExceljs(broken)).rejects.toThrow('broken');
  });

  it('is not made any further when its reader leaves', async () => {
    const { service, wire } = await withService();
    const lines = Array.from({ length: 20_000 }, (_, at) => `good${at}@sluice.test`);
    const { batch_uuid } = await wire.verify(lines);
    const left = new AbortController();
    const answer = await fetch(`${service.baseUrl}/v1/batch/${batch_uuid}/export?format=xlsx`, {
      headers: { 'X-Api-Key': service.apiKey },
      signal: left.signal,
    });
    await answer.body?.getReader().read();
    left.abort();
    expect((await wire.send('DELETE', `/v1/batch/${batch_uuid}`)).status).toBe(200);
  });

  it.each([
    ['plain', 'plain'],
    ['=1', "'=1"],
    ['+1', '+1'],
    ['+a', "'+a"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['\ra', "'\ra"],
    ['a=1', 'a=1'],
    ['a\u0001b\uffff', 'a\ufffdb\ufffd'],
    ['', ''],
  ])('has %j as %j', (text, cell) => {
    expect(safeCell(text)).toBe(cell);
  });
});
