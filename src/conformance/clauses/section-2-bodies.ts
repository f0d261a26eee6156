import { type Clause, free, notShown, read, spend } from '../clause.js';
import type { Subject } from '../subject.js';
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
  arrayOf,
  asObject,
  expectFields,
  expectRefused,
  objectOf,
  objectsWith,
  expectThat,
  NotReached,
} from '../expected.js';

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
  read('2.1', 'credit balance: email_credit and phone_credit, numbers', async (subject) => {
    const credits = objectOf(await subject.ask('GET', '/v1/account/credits'), 'credits');
    expectFields(credits, { email_credit: 'number', phone_credit: 'number' }, 'credits');
  }),
  free(
    '2.2',
    'batch summary: batch_uuid, name, description, status, created_at, updated_at',
    async (subject) => {
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
  ),
  free('2.4 status', `batch status: ${batchStatuses.join(', ')}`, async (subject) => {
    try {
      await subject.ready();
    } catch (error) {
      // A batch that cannot proceed may have a status of its own.
      if (!(error instanceof NotReached)) throw error;
    }
    for (const status of subject.statusesSeen) {
      expectThat(batchStatuses.includes(status), `a batch was ${JSON.stringify(status)}`);
    }
  }),
  spend('2.4 export format', 'export format: xlsx, json', async (subject) => {
    const { uuid } = await subject.verified('email');
    const path = `/v1/batch/${uuid}/export`;
    for (const format of ['json', 'xlsx']) {
      const { status } = await subject.ask('GET', `${path}?format=${format}`);
      expectThat(status === 200, `format=${format} was answered with ${status}`);
    }
    expectRefused(await subject.ask('GET', `${path}?format=csv`), 'format=csv');
    expectRefused(await subject.ask('GET', path), 'an export without a format');
  }),
  spend('2.4 quality', `email result quality: ${qualities.join(', ')}`, async (subject) =>
    expectWords(subject, 'quality', qualities),
  ),
  spend('2.4 result', `email result result: ${results.join(', ')}`, async (subject) =>
    expectWords(subject, 'result', results),
  ),
  free('2.5', 'batch status: one of five variants, chosen by status', async (subject) => {
    const { uuid } = await subject.ready();
    const { status } = await subject.status(uuid);
    expectThat(batchStatuses.includes(String(status)), `status is ${JSON.stringify(status)}`);
  }),
  spend(
    '2.5 results',
    'once available, the status carries costs, results and refunds',
    async (subject) => {
      const { status } = await subject.verified('email');
      const more = Object.values(status).filter((value) => typeof value === 'object');
      expectThat(
        more.some((value) => value !== null),
        'it carries no object beside its status',
      );
    },
  ),
  notShown('2.5 fields', 'fields of each status variant other than status'),
  free(
    '2.6 base',
    'details while parsing: batch_uuid, name, description, status, dates, parameters',
    async (subject) => {
      const uuid = await subject.newBatch();
      const details = await subject.details(uuid);
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
  ),
  free('2.6 pending', 'details before and while verifying: chosen by status', async (subject) => {
    const { uuid } = await subject.ready();
    const details = await subject.details(uuid);
    expectThat(
      details['status'] === 'ready_for_verification',
      `their status is ${JSON.stringify(details['status'])}`,
    );
  }),
  spend(
    '2.6 final',
    'details when done: batch_uuid, name, description, created_at, updated_at',
    async (subject) => {
      const { uuid } = await subject.verified('email');
      const details = await subject.details(uuid);
      expectFields(details, summary, 'details');
      expectThat(details['status'] === 'verification_done', 'their status is another');
    },
  ),
  free(
    '2.6 content',
    'details include the uploaded content and related metadata',
    async (subject) => {
      const { uuid, address } = await subject.ready();
      const { text } = await subject.ask('GET', `/v1/batch/${uuid}/details`);
      expectThat(text.includes(address), 'the address that was uploaded is not in them');
    },
  ),
  notShown('2.6 fields', 'fields of the pending and final details'),
  spend('2.7 email', 'email result record: eleven required fields', async (subject) => {
    for (const record of await recordsOf(subject, 'email')) {
      expectFields(record, emailRecord, 'a record');
    }
  }),
  spend(
    '2.7 phone',
    'phone result record: eight required fields, three that may be null or absent',
    async (subject) => {
      for (const record of await recordsOf(subject, 'phone')) {
        expectFields(record, phoneRecord, 'a record');
        for (const name of phoneRecordOptional) {
          if (!Object.hasOwn(record, name)) continue;
          expectFields(record, { [name]: 'string or null' }, 'a record');
        }
      }
    },
  ),
  notShown('2.7 words', 'values of phone type and phone status'),
  ...(['email', 'phone'] as const).flatMap((type): Clause[] => [
    spend(
      `2.8 ${type} cost`,
      `${type} cost object: ${costFields[type].join(', ')}`,
      async (subject) => expectObjects(subject, type, costFields[type]),
    ),
    spend(
      `2.8 ${type} counts`,
      `${type} parsing counts: ${countFields[type].join(', ')}`,
      async (subject) => expectObjects(subject, type, countFields[type]),
    ),
  ]),
  notShown('2.8 where', 'which status responses carry these objects'),
  spend(
    '2.9 export',
    'export: an object from the verified addresses to their records',
    async (subject) => {
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
  ),
  spend(
    '2.9 spreadsheet',
    `xlsx: a binary spreadsheet of content type ${xlsxType}`,
    async (subject) => {
      const { uuid } = await subject.verified('email');
      const answer = await subject.ask('GET', `/v1/batch/${uuid}/export?format=xlsx`);
      expectThat(answer.contentType.startsWith(xlsxType), `it is ${answer.contentType}`);
      expectThat(answer.bytes[0] === 0x50 && answer.bytes[1] === 0x4b, 'it is not a ZIP archive');
    },
  ),
  notShown('2.9 sections', 'shape of the details and statistics of an export'),
];
