import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { mergeExports, type SavedExport } from '../../../src/engine/streams/merge-exports.js';
import { caught } from '../../client/test-client.js';
import { recordOf } from './harness/record-service.js';
import { withFolder } from '../../service/with-service.js';

const rows = [
  { id: 1, email: 'A@example.com', phone: '+12125550100' },
  { id: 2, email: 'b@example.com', phone: '(212) 555-0101' },
  { id: 3, email: 'c@example.com', phone: '' },
  { id: 4, email: 'a@example.com ', phone: null },
];

function exportOf(type: 'email' | 'phone', lines: readonly string[], changes = {}): Buffer {
  const records = lines.map((line) => [line, { ...recordOf(type, line), ...changes }]);
  return Buffer.from(JSON.stringify({ ...Object.fromEntries(records), statistics: {} }));
}

const saved =
  (bytes: Buffer): SavedExport =>
  () =>
    Readable.from([bytes]);

async function merged(exports: readonly SavedExport[]) {
  const options = { email: ['email'], phone: ['phone'], country: 'US' } as const;
  const out = [];
  for await (const row of mergeExports(rows, exports, options)) out.push(row);
  return out;
}

test('puts exports back onto rows by address, the later before the earlier, each read once', async () => {
  const path = join(await withFolder(), 'export.json');
  await writeFile(path, exportOf('phone', ['+12125550101', '+12125550100']));
  let opened = 0;
  const out = await merged([
    saved(exportOf('email', ['x@example.com', 'b@example.com'], { quality: 'good' })),
    path,
    () => {
      opened += 1;
      return Readable.from([
        exportOf('email', ['a@example.com', 'b@example.com'], { quality: 'bad' }),
      ]);
    },
    saved(Buffer.from('{}')),
  ]);
  expect(out.map((row) => [row.id, row.email, row.email_quality, row.email_reason])).toEqual([
    [1, 'A@example.com', 'bad', ''],
    [2, 'b@example.com', 'bad', ''],
    [3, 'c@example.com', null, 'no_record'],
    [4, 'a@example.com ', 'bad', ''],
  ]);
  expect(out.map((row) => row.phone_verification)).toEqual([
    'verified',
    'verified',
    'not_submitted',
    'not_submitted',
  ]);
  expect(opened).toBe(1);
});

test.each<[string, string, string]>([
  ['a list of results', '{"results":[]}', 'broken_contract'],
  ['an array', '[]', 'broken_contract'],
  ['records of another shape', '{"a@example.com":{"valid":"yes"}}', 'broken_contract'],
  ['half an export', '{"a@exam', 'broken_contract'],
])('refuses %s', async (_, text, code) => {
  expect(await caught(merged([saved(Buffer.from(text))]))).toMatchObject({ code });
});

test('refuses what opens no export, such as its bytes', async () => {
  const bytes: unknown[] = [Buffer.from('{}')];
  const error = await caught(merged(bytes as SavedExport[]));
  expect(error).toMatchObject({ code: 'invalid_option', option: 'exports' });
});

test('says which export cannot be read', async () => {
  const error = await caught(merged(['/no/such/export.json']));
  expect(error).toMatchObject({
    code: 'input_unreadable',
    message: /\/no\/such\/export\.json: file or folder not found/,
  });
});
