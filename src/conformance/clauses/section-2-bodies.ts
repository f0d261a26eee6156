import type { Clause, Subject } from '../subject.js';
import {
  batchStatuses,
  costFields,
  countFields,
  emailRecord,
  phoneRecord,
  phoneRecordOptional,
  qualities,
  results,
  xlsxType,
} from '../expected.js';
import {
  arrayOf,
  asObject,
  expectFields,
  expectRefused,
  objectOf,
  objectsWith,
  expectThat,
  NotReached,
} from '../shapes.js';

const summary = {
  batch_uuid: 'uuid',
  name: 'string',
  description: 'string or null',
  status: 'string',
  created_at: 'date-time',
  updated_at: 'date-time',
} as const;

async function recordsOf(subject: Subject, type: 'email' | 'phone') {
  const { uuid, addresses } = await subject.verified(type);
  const exported = await subject.exported(uuid, '&include_details=false&include_statistics=false');
  const records = Object.values(exported).map((record) => asObject(record, 'a record'));
  expectThat(records.length === addresses.length, `${records.length} records`);
  return records;
}

async function expectWords(
  subject: Subject,
  field: string,
  words: readonly string[],
): Promise<void> {
  for (const record of await recordsOf(subject, 'email')) {
    const word = String(record[field]);
    expectThat(words.includes(word), `${field} is ${JSON.stringify(word)}`);
  }
}

/** Cost and count objects (spec 2.8), wherever they are in the status of a batch that is done. */
async function expectObjects(
  subject: Subject,
  type: 'email' | 'phone',
  fields: readonly string[],
): Promise<void> {
  const { status } = await subject.verified(type);
  const [first = ''] = fields;
  const found = objectsWith(status, first);
  if (found.length === 0) throw new NotReached('the status of a batch that is done has none');
  for (const object of found) {
    expectFields(
      object,
      Object.fromEntries(fields.map((f) => [f, f.startsWith('net') ? 'number' : 'integer'])),
      'the object',
    );
  }
}

/** Resources and their fields (spec 2), but for parameters and forms. */
export const section2Bodies: readonly Clause[] = [
  {
    id: '2.1',
    says: 'credit balance: email_credit and phone_credit, numbers',
    need: 'read',
    async check(subject) {
      const credits = objectOf(await subject.ask('GET', '/v1/account/credits'), 'credits');
      expectFields(credits, { email_credit: 'number', phone_credit: 'number' }, 'credits');
    },
  },
  {
    id: '2.2',
    says: 'batch summary: batch_uuid, name, description, status, created_at, updated_at',
    need: 'free',
    async check(subject) {
      await subject.ready();
      const batches = arrayOf(await subject.ask('GET', '/v1/batch'), 'the list');
      expectThat(batches.length > 0, 'the list is empty after an upload');
      for (const batch of batches) {
        expectFields(batch, summary, 'an item of the list');
        expectThat(
          batchStatuses.includes(String(batch['status'])),
          `status is ${JSON.stringify(batch['status'])}`,
        );
      }
    },
  },
  {
    id: '2.4 status',
    says: `batch status: ${batchStatuses.join(', ')}`,
    need: 'free',
    async check(subject) {
      try {
        await subject.ready();
      } catch (error) {
        // A batch that gets nowhere may do so under a word of its own.
        if (!(error instanceof NotReached)) throw error;
      }
      for (const status of subject.statusesSeen) {
        expectThat(batchStatuses.includes(status), `a batch was ${JSON.stringify(status)}`);
      }
    },
  },
  {
    id: '2.4 export format',
    says: 'export format: xlsx, json',
    need: 'spend',
    async check(subject) {
      const { uuid } = await subject.verified('email');
      const path = `/v1/batch/${uuid}/export`;
      for (const format of ['json', 'xlsx']) {
        const { status } = await subject.ask('GET', `${path}?format=${format}`);
        expectThat(status === 200, `format=${format} was answered with ${status}`);
      }
      expectRefused(await subject.ask('GET', `${path}?format=csv`), 'format=csv');
      expectRefused(await subject.ask('GET', path), 'an export without a format');
    },
  },
  {
    id: '2.4 quality',
    says: `email result quality: ${qualities.join(', ')}`,
    need: 'spend',
    check: async (subject) => expectWords(subject, 'quality', qualities),
  },
  {
    id: '2.4 result',
    says: `email result result: ${results.join(', ')}`,
    need: 'spend',
    check: async (subject) => expectWords(subject, 'result', results),
  },
  {
    id: '2.5',
    says: 'batch status: one of five variants, chosen by status',
    need: 'free',
    async check(subject) {
      const { uuid } = await subject.ready();
      const { status } = await subject.status(uuid);
      expectThat(batchStatuses.includes(String(status)), `status is ${JSON.stringify(status)}`);
    },
  },
  {
    id: '2.5 results',
    says: 'once available, the status carries costs, results and refunds',
    need: 'spend',
    async check(subject) {
      const { status } = await subject.verified('email');
      const more = Object.values(status).filter((value) => typeof value === 'object');
      expectThat(
        more.some((value) => value !== null),
        'it carries no object beside its status',
      );
    },
  },
  { id: '2.5 fields', says: 'fields of each status variant other than status', notShown: true },
  {
    id: '2.6 base',
    says: 'details while parsing: batch_uuid, name, description, status, dates, parameters',
    need: 'free',
    async check(subject) {
      const uuid = await subject.newBatch();
      const details = objectOf(await subject.ask('GET', `/v1/batch/${uuid}/details`), 'details');
      if (details['status'] !== 'parsing_content') throw new NotReached('it was parsed at once');
      expectFields(details, summary, 'details');
      const { parameters = null } = details;
      if (parameters !== null) {
        expectFields(
          asObject(parameters, 'parameters'),
          { type: 'string', target_country: 'string' },
          'parameters',
        );
      }
    },
  },
  {
    id: '2.6 pending',
    says: 'details before and while verifying: chosen by status',
    need: 'free',
    async check(subject) {
      const { uuid } = await subject.ready();
      const details = objectOf(await subject.ask('GET', `/v1/batch/${uuid}/details`), 'details');
      expectThat(
        details['status'] === 'ready_for_verification',
        `their status is ${JSON.stringify(details['status'])}`,
      );
    },
  },
  {
    id: '2.6 final',
    says: 'details when done: batch_uuid, name, description, created_at, updated_at',
    need: 'spend',
    async check(subject) {
      const { uuid } = await subject.verified('email');
      const details = objectOf(await subject.ask('GET', `/v1/batch/${uuid}/details`), 'details');
      expectFields(details, summary, 'details');
      expectThat(details['status'] === 'verification_done', 'their status is another');
    },
  },
  {
    id: '2.6 content',
    says: 'details include the uploaded content and related metadata',
    need: 'free',
    async check(subject) {
      const { uuid, address } = await subject.ready();
      const { text } = await subject.ask('GET', `/v1/batch/${uuid}/details`);
      expectThat(text.includes(address), 'the address that was uploaded is not in them');
    },
  },
  { id: '2.6 fields', says: 'fields of the pending and final details', notShown: true },
  {
    id: '2.7 email',
    says: 'email result record: eleven required fields',
    need: 'spend',
    async check(subject) {
      for (const record of await recordsOf(subject, 'email')) {
        expectFields(record, emailRecord, 'a record');
      }
    },
  },
  {
    id: '2.7 phone',
    says: 'phone result record: eight required fields, three that may be null or absent',
    need: 'spend',
    async check(subject) {
      for (const record of await recordsOf(subject, 'phone')) {
        expectFields(record, phoneRecord, 'a record');
        for (const name of phoneRecordOptional) {
          if (!Object.hasOwn(record, name)) continue;
          expectFields(record, { [name]: 'string or null' }, 'a record');
        }
      }
    },
  },
  { id: '2.7 words', says: 'values of phone type and phone status', notShown: true },
  ...(['email', 'phone'] as const).flatMap((type): Clause[] => [
    {
      id: `2.8 ${type} cost`,
      says: `${type} cost object: ${costFields[type].join(', ')}`,
      need: 'spend',
      check: async (subject) => expectObjects(subject, type, costFields[type]),
    },
    {
      id: `2.8 ${type} counts`,
      says: `${type} parsing counts: ${countFields[type].join(', ')}`,
      need: 'spend',
      check: async (subject) => expectObjects(subject, type, countFields[type]),
    },
  ]),
  { id: '2.8 where', says: 'which status responses carry these objects', notShown: true },
  {
    id: '2.9 export',
    says: 'export: an object from the verified addresses to their records',
    need: 'spend',
    async check(subject) {
      const { uuid, addresses } = await subject.verified('email');
      const exported = await subject.exported(
        uuid,
        '&include_details=false&include_statistics=false',
      );
      const keys = Object.keys(exported).map((key) => key.toLowerCase());
      for (const address of addresses) {
        expectThat(keys.includes(address), 'an address has no record under its own name');
      }
    },
  },
  {
    id: '2.9 spreadsheet',
    says: `xlsx: a binary spreadsheet of content type ${xlsxType}`,
    need: 'spend',
    async check(subject) {
      const { uuid } = await subject.verified('email');
      const answer = await subject.ask('GET', `/v1/batch/${uuid}/export?format=xlsx`);
      expectThat(answer.contentType.startsWith(xlsxType), `it is ${answer.contentType}`);
      expectThat(answer.bytes[0] === 0x50 && answer.bytes[1] === 0x4b, 'it is no ZIP archive');
    },
  },
  { id: '2.9 sections', says: 'shape of the details and statistics of an export', notShown: true },
];
