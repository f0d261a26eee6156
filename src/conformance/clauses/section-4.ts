import { type Clause, free, notObservable, notShown, read, spend } from '../clause.js';
import { unitAnswer } from '../subject.js';
import { arrayOf, expectRefused, expectTaken, objectOf, expectThat } from '../expected.js';

const farFuture = '2999-01-01T00:00:00Z';
const farPast = '1970-01-02T00:00:00Z';
/** So many batches are read in pages of two. */
const mostPaged = 20;

/** Operations (spec 4): each is there, and answers as its line says. */
export const section4: readonly Clause[] = [
  read('4 GET /v1/account/credits', 'account credit balance', async (subject) => {
    objectOf(await subject.ask('GET', '/v1/account/credits'), 'the answer');
  }),
  read('4 GET /v1/batch', 'JSON array of batch summaries', async (subject) => {
    arrayOf(await subject.ask('GET', '/v1/batch'), 'the answer');
  }),
  free('4 GET /v1/batch limit', 'limit: integer, 1 to 1000, default 100', async (subject) => {
    await subject.ready();
    await subject.spare();
    const list = async (query: string) => subject.ask('GET', `/v1/batch${query}`);
    expectThat(arrayOf(await list('?limit=1'), 'limit=1').length === 1, 'limit=1 gives another');
    expectTaken(await list('?limit=1000'), 'limit=1000');
    expectThat(arrayOf(await list(''), 'the list').length <= 100, 'more than 100 come by default');
    for (const limit of ['0', '1001', '-1', 'x']) {
      expectRefused(await list(`?limit=${limit}`), `limit=${limit}`);
    }
  }),
  free('4 GET /v1/batch offset', 'offset: integer, min 0, default 0', async (subject) => {
    await subject.ready();
    const list = async (query: string) => subject.ask('GET', `/v1/batch?${query}`);
    const beyond = arrayOf(await list('offset=1000000000'), 'a far offset');
    expectThat(beyond.length === 0, 'a far offset gives batches');
    expectTaken(await list('offset=0'), 'offset=0');
    for (const offset of ['-1', 'x']) {
      expectRefused(await list(`offset=${offset}`), `offset=${offset}`);
    }
  }),
  free(
    '4 GET /v1/batch pages',
    'pages of limit and offset together give each batch of the list once',
    async (subject) => {
      await subject.ready();
      await subject.spare();
      await subject.newBatch();
      const list = async (limit: number, offset: number) => {
        const query = `?limit=${limit}&offset=${offset}`;
        const page = arrayOf(await subject.ask('GET', `/v1/batch${query}`), query);
        expectThat(page.length <= limit, `${query} gives ${page.length} batches`);
        return page.map((batch) => batch['batch_uuid']);
      };
      const whole = await list(1000, 0);
      const paged: unknown[] = [];
      const count = Math.min(whole.length, mostPaged);
      for (let offset = 0; offset < count; offset += 2) paged.push(...(await list(2, offset)));
      expectThat(new Set(paged).size === paged.length, 'a batch is on two pages');
      expectThat(paged.length === count, `pages of ${count} batches have ${paged.length}`);
      expectThat(
        paged.every((uuid) => whole.includes(uuid)),
        'a page has a batch that the list lacks',
      );
    },
  ),
  free(
    '4 GET /v1/batch dates',
    'from_date and to_date: date-times that bound the list',
    async (subject) => {
      await subject.ready();
      const list = async (query: string) =>
        arrayOf(await subject.ask('GET', `/v1/batch?${query}`), query);
      expectThat((await list(`from_date=${farFuture}`)).length === 0, 'batches of the far future');
      expectThat((await list(`to_date=${farPast}`)).length === 0, 'batches of the far past');
      const all = await list(`from_date=${farPast}&to_date=${farFuture}`);
      expectThat(all.length > 0, 'no batch between the far past and the far future');
      expectRefused(await subject.ask('GET', '/v1/batch?from_date=soon'), 'from_date=soon');
    },
  ),
  free('4 POST /v1/batch', 'upload response', async (subject) => {
    objectOf(await subject.upload(subject.form()), 'the answer');
  }),
  free('4 GET /v1/batch/{batch_uuid}', 'batch status response', async (subject) => {
    const { uuid } = await subject.ready();
    objectOf(await subject.ask('GET', `/v1/batch/${uuid}`), 'the answer');
  }),
  free(
    '4 PUT /v1/batch/{batch_uuid}',
    'parameters as a JSON body, required; generic success object',
    async (subject) => {
      const path = `/v1/batch/${await subject.spare()}`;
      const json = { type: 'email', target_country: 'US' };
      objectOf(await subject.ask('PUT', path, { json }), 'the answer');
      expectRefused(await subject.ask('PUT', path), 'an update without a body');
      expectRefused(await subject.ask('PUT', path, { text: '{' }), 'a body that is not JSON');
    },
  ),
  free('4 PATCH /v1/batch/{batch_uuid}', 'object with status', async (subject) => {
    const path = `/v1/batch/${await subject.spare()}`;
    const { status } = objectOf(await subject.ask('PATCH', path), 'the answer');
    expectThat(typeof status === 'string', 'it has no status');
  }),
  spend('4 POST /v1/batch/{batch_uuid}', 'object with status', async (subject) => {
    const { launch } = await subject.verified('email');
    expectThat(typeof launch['status'] === 'string', 'it has no status');
  }),
  free(
    '4 DELETE /v1/batch/{batch_uuid}',
    'generic success object; the batch is gone',
    async (subject) => {
      const uuid = await subject.newBatch();
      objectOf(await subject.ask('DELETE', `/v1/batch/${uuid}`), 'the answer');
      const batches = arrayOf(await subject.ask('GET', '/v1/batch?limit=1000'), 'the list');
      expectThat(
        batches.every((batch) => batch['batch_uuid'] !== uuid),
        'it is still in the list',
      );
    },
  ),
  spend(
    '4 GET /v1/batch/{batch_uuid}/export',
    'results of a batch that is done, as JSON',
    async (subject) => {
      await subject.exported((await subject.verified('email')).uuid);
    },
  ),
  free('4 GET /v1/batch/{batch_uuid}/details', 'batch details', async (subject) => {
    const { uuid } = await subject.ready();
    objectOf(await subject.ask('GET', `/v1/batch/${uuid}/details`), 'the answer');
  }),
  spend('4 POST /v1/unit', 'unit verification response', async (subject) => {
    objectOf(await unitAnswer(subject), 'the answer');
  }),
  free('4 POST /v1/format', 'format normalization response', async (subject) => {
    const form = subject.form({ name: null });
    expectTaken(await subject.ask('POST', '/v1/format', { form }), 'a form');
  }),
  read('4 uuid', 'batch_uuid is a uuid', async (subject) => {
    const { status } = await subject.ask('GET', '/v1/batch/no-uuid');
    expectThat([400, 404, 422].includes(status), `another is answered with ${status}`);
  }),
  free(
    '4 note 1',
    'the list has all batches of the account, with id, status, name, creation date',
    async (subject) => {
      // Every upload of this suite is found by its name, or this fails.
      await subject.newBatch();
    },
  ),
  notShown('4 note 1 date', 'which timestamp the date range is about'),
  notShown('4 note 2', 'export before verification_done'),
  spend(
    '4 note 3',
    'include_details and include_statistics control the sections of the JSON export',
    async (subject) => {
      const { uuid, addresses } = await subject.verified('email');
      const members = async (details: boolean, statistics: boolean) => {
        const query = `&include_details=${details}&include_statistics=${statistics}`;
        return Object.keys(await subject.exported(uuid, query)).length;
      };
      const without = await members(false, false);
      expectThat(
        without === addresses.length,
        `without sections there are ${without} members for ${addresses.length} addresses`,
      );
      expectThat((await members(true, true)) >= without, 'with sections there are fewer');
    },
  ),
  spend(
    '4 note 3 default',
    'both are true by default: an export that names neither has the sections of one that asks for them',
    async (subject) => {
      const { uuid } = await subject.verified('email');
      const members = async (query: string) =>
        Object.keys(await subject.exported(uuid, query))
          .toSorted()
          .join('\n');
      const given = await members('&include_details=true&include_statistics=true');
      expectThat((await members('')) === given, 'it has other members');
    },
  ),
  notObservable(
    '4 note 4',
    'POST /v1/unit: up to 5 seconds, 402 when credits are insufficient',
    'its time is 1.5; 402 needs an account that has run out of credits',
  ),
  free('4 note 5', 'POST /v1/format needs no authentication', async (subject) => {
    const form = subject.form({ name: null });
    expectTaken(await subject.ask('POST', '/v1/format', { form, key: null }), 'without a key');
  }),
  spend(
    '4 note 6',
    'the typical flow of a batch',
    async (subject) => void (await subject.verified('phone')),
  ),
  notShown('4 unit body', 'request body fields of POST /v1/unit'),
];
