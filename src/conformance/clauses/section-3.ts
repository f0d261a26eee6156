import { type Clause, free, notObservable, notShown, spend } from '../clause.js';
import { expectTaken, expectThat, NotReached } from '../expected.js';

const atOnce = 20;
const launchWords: ReadonlySet<unknown> = new Set([
  'ok',
  'verification_already_ongoing',
  'verification_already_done',
]);

/** States of a batch (spec 3). */
export const section3: readonly Clause[] = [
  free(
    '3 parsed',
    'parsing_content, parsing succeeds: ready_for_verification',
    async (subject) => void (await subject.ready()),
  ),
  notObservable(
    '3 broken',
    'parsing_content, system error: internal_error, reported with its batch_uuid',
    'an error of the system cannot be asked for',
  ),
  spend(
    '3 launched',
    'ready_for_verification, launch, credits suffice: verification_ongoing',
    async (subject) => {
      const { launch } = await subject.verified('email');
      expectThat(launch['status'] === 'ok', `the launch says ${JSON.stringify(launch['status'])}`);
    },
  ),
  spend(
    '3 verified',
    'verification_ongoing, verification completes: verification_done',
    async (subject) => void (await subject.verified('email')),
  ),
  spend(
    '3 read',
    'verification_done, export and details read: verification_done',
    async (subject) => {
      const { uuid } = await subject.verified('email');
      await subject.exported(uuid);
      await subject.ask('GET', `/v1/batch/${uuid}/details`);
      const { status } = await subject.status(uuid);
      expectThat(status === 'verification_done', `it is ${JSON.stringify(status)} then`);
    },
  ),
  free(
    '3 rule 1',
    'PATCH may be called any number of times before launch, and is idempotent',
    async (subject) => {
      const { uuid } = await subject.ready();
      for (let call = 0; call < 5; call += 1) {
        const { status } = await subject.prepare(uuid);
        expectThat(status === 'ok', `call ${call + 1} says ${JSON.stringify(status)}`);
      }
    },
  ),
  free(
    '3 rule 2',
    'PUT updates parameters before launch; PATCH then re-parses with them',
    async (subject) => {
      const { uuid } = await subject.ready();
      const json = { type: 'email', target_country: 'DE' };
      expectTaken(await subject.ask('PUT', `/v1/batch/${uuid}`, { json }), 'an update');
      await subject.prepare(uuid);
    },
  ),
  // A batch that is ready at once would be launched.
  spend(
    '3 rule 3 not ready',
    'launch when not ready: 200 with not_ready_for_verification',
    async (subject) => {
      const uuid = await subject.newBatch();
      const { status } = await subject.launch(uuid);
      if (status === 'ok') throw new NotReached('it was ready at once, and was launched');
      expectThat(status === 'not_ready_for_verification', `it says ${JSON.stringify(status)}`);
    },
  ),
  spend(
    '3 rule 3 ongoing',
    'launch when already running: 200 with verification_already_ongoing',
    async (subject) => {
      const uuid = await subject.newBatch();
      await subject.prepare(uuid);
      await subject.ask('POST', `/v1/batch/${uuid}`);
      const { status } = await subject.launch(uuid);
      if (status === 'verification_already_done') throw new NotReached('it was done at once');
      expectThat(status === 'verification_already_ongoing', `it says ${JSON.stringify(status)}`);
    },
  ),
  spend(
    '3 rule 3 done',
    'launch when already finished: 200 with verification_already_done',
    async (subject) => {
      const { uuid } = await subject.verified('email');
      const { status } = await subject.launch(uuid);
      expectThat(status === 'verification_already_done', `it says ${JSON.stringify(status)}`);
    },
  ),
  spend(
    '3 rule 3 at once',
    `${atOnce} launches of one batch at once: one says ok, and its addresses are charged once`,
    async (subject) => {
      const { answers, cost } = await subject.launchedAtOnce(atOnce);
      const reported = answers.map(({ status }) => status);
      const launched = reported.filter((status) => status === 'ok');
      expectThat(launched.length === 1, `${launched.length} launches say "ok"`);
      const other = reported.find((status) => !launchWords.has(status));
      expectThat(other === undefined, `a launch says ${JSON.stringify(other)}`);
      expectThat(cost === 1, `one address cost ${cost} credits`);
    },
  ),
  free('3 rule 4 before', 'DELETE is allowed before verification', async (subject) => {
    const uuid = await subject.newBatch();
    await subject.prepare(uuid);
    expectTaken(await subject.ask('DELETE', `/v1/batch/${uuid}`), 'the deletion');
  }),
  spend('3 rule 4 after', 'DELETE is allowed after verification', async (subject) => {
    const { uuid } = await subject.again();
    expectTaken(await subject.ask('DELETE', `/v1/batch/${uuid}`), 'the deletion');
  }),
  spend(
    '3 rule 4 while',
    'DELETE is not allowed while processing is in progress',
    async (subject) => {
      const uuid = await subject.newBatch();
      await subject.prepare(uuid);
      await subject.ask('POST', `/v1/batch/${uuid}`);
      const deleted = await subject.ask('DELETE', `/v1/batch/${uuid}`);
      if (deleted.status === 200) throw new NotReached('it was done before it could be deleted');
      const after = await subject.ask('GET', `/v1/batch/${uuid}`);
      expectThat(after.status === 200, 'the deletion was refused, and the batch is gone');
    },
  ),
  notObservable(
    '3 rule 5',
    'insufficient credits at launch: HTTP 402',
    'needs an account that has run out of credits',
  ),
  notShown('3 other', 'the state right after upload; PATCH, PUT, POST and DELETE in other states'),
];
