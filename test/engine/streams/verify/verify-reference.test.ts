import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Row } from '../../../../src/lists/rows/chunks/object-chunk.js';
import { verify } from '../../../../src/engine/streams/verify.js';
import { recordOf, RecordService } from '../harness/record-service.js';

/** Few of each, so that they meet. */
const anyEmail = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40 }).map((n) => `u${n}@example.com`) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 9 }).map((n) => ` U${n}@Example.com`) },
  fc.constantFrom('', '  ', 'a,b@example.com', 'no address', '__proto__', 'josé@example.com', null),
);
const anyPhone = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => `+1212555${1000 + n}`) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 9 }).map((n) => `(212) 555-${1000 + n}`) },
  fc.constantFrom('', '1-800-FLOWERS', '12', null, undefined),
);
const anyRow = fc.record({
  id: fc.nat(),
  email: anyEmail,
  phone: anyPhone,
  country: fc.constantFrom('US', 'us', 'GB', '', 'XX', null),
  note: fc.option(fc.string()),
});
const anyOptions = fc.record({
  batchSize: fc.integer({ min: 1, max: 30 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  maxWaitingRows: fc.integer({ min: 1, max: 60 }),
});

/** What an email cell comes to, worked out without Sluice: its line's key, or why it has none. */
function judgeEmail(cell: unknown): { readonly key: string } | { readonly reason: string } {
  const text = typeof cell === 'string' ? cell.trim() : '';
  if (text === '') return { reason: 'empty' };
  return text.includes(',') ? { reason: 'contains_comma' } : { key: text.toLowerCase() };
}

/** The same for the forms of numbers above: ten digits are a possible number in either country. */
function judgePhone(
  cell: unknown,
  group: string,
): { readonly key: string } | { readonly reason: string } {
  const text = typeof cell === 'string' ? cell.trim() : '';
  if (text === '') return { reason: 'empty' };
  const digits = text.replace(/\D/g, '');
  if (digits.length < 10 || text.startsWith('+')) return { key: text };
  return { key: `+${group === 'GB' ? 44 : 1}${digits}` };
}

/** Empty cells fall back to the country given. */
function groupOf(country: unknown): string {
  return String(country ?? '').toUpperCase() || 'US';
}

function expectedCells(
  type: 'email' | 'phone',
  judged: ReturnType<typeof judgeEmail>,
  country: unknown,
  records: ReadonlyMap<string, Given>,
): Record<string, unknown> {
  const isEmpty = 'reason' in judged && judged.reason === 'empty';
  const group = groupOf(country);
  const names = Object.keys(recordOf(type, '')).slice(1);
  const cells = (
    verification: string,
    reason: string,
    record?: Readonly<Record<string, unknown>>,
  ) =>
    Object.fromEntries([
      [`${type}_verification`, verification],
      [`${type}_reason`, reason],
      ...names.map((name) => [`${type}_${name}`, record?.[name] ?? null]),
    ]) as Record<string, unknown>;
  if (isEmpty) return cells('not_submitted', 'empty');
  if (group === 'XX') return cells('not_submitted', 'country_unsupported');
  if ('reason' in judged) return cells('not_submitted', judged.reason);
  const record = records.get(`${group} ${type} ${judged.key}`);
  if (record === doubtful) return cells('failed', 'export_incomplete');
  return record ? cells('verified', '', record) : cells('no_result', 'no_record');
}

/** A record, or that the export of its batch leaves out more than half of what was verified. */
type Given = Readonly<Record<string, unknown>> | typeof doubtful;
const doubtful = Symbol('doubtful');

/** All records that the service has given, under the country of their batch and a key of their own. */
function recordsOf(
  service: RecordService,
  countries: ReadonlyMap<string, string>,
): Map<string, Given> {
  const records = new Map<string, Given>();
  for (const { uuid, type, lines } of service.batches.values()) {
    const named = lines.filter((line) => !hasNoRecord(line)).length;
    const isDoubtful = named * 2 < lines.length;
    for (const line of lines) {
      if (hasNoRecord(line) && !isDoubtful) continue;
      const country = countries.get(uuid) ?? '';
      const judged = type === 'email' ? judgeEmail(line) : judgePhone(line, country);
      if ('reason' in judged) throw new Error('a line that is none was sent');
      records.set(`${country} ${type} ${judged.key}`, isDoubtful ? doubtful : recordOf(type, line));
    }
  }
  return records;
}

const hasNoRecord = (address: string): boolean => address.includes('3');

test('any rows come out as a plain map of the results joins them, each address charged once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { maxLength: 200 }), anyOptions, async (rows, options) => {
      const service = new RecordService({ hasNoRecord });
      const countries = new Map<string, string>();
      const upload = service.uploadBatch;
      service.uploadBatch = async (form, callOptions) => {
        const answer = await upload(form, callOptions);
        countries.set(String(answer['batch_uuid']), form.target_country);
        return answer;
      };
      const out = (await Readable.from(rows as readonly Row[])
        .pipe(
          verify({
            ...options,
            client: service,
            email: ['email'],
            phone: ['phone'],
            countryColumn: 'country',
            country: 'US',
            pollIntervalMs: 0,
          }),
        )
        .toArray()) as Row[];

      const records = recordsOf(service, countries);
      expect(out).toEqual(
        rows.map((row) => ({
          ...row,
          ...expectedCells('email', judgeEmail(row.email), row.country, records),
          ...expectedCells(
            'phone',
            judgePhone(row.phone, groupOf(row.country)),
            row.country,
            records,
          ),
        })),
      );
      const paid = service.ledger.map(({ uuid, type, address }) => {
        const country = countries.get(uuid) ?? '';
        const judged = type === 'email' ? judgeEmail(address) : judgePhone(address, country);
        return `${country} ${type} ${'key' in judged ? judged.key : ''}`;
      });
      expect(new Set(paid).size).toBe(paid.length);
    }),
    { numRuns: 60 },
  );
});
