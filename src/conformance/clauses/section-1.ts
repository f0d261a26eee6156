import { type Clause, free, notObservable, read, spend } from '../clause.js';
import { type VerifiedBatch, unitAnswer } from '../subject.js';
import { verificationTypes, expectTaken, objectOf, expectThat } from '../expected.js';

export const section1: readonly Clause[] = [
  free('1.1', 'verifies two kinds of data, email and phone', async (subject) => {
    for (const type of verificationTypes) {
      const form = subject.form({ type }, subject.newAddresses(type, 1).join('\n'));
      expectTaken(await subject.upload(form), `an upload of type ${type}`);
    }
  }),
  notObservable(
    '1.2',
    'how emails are verified: syntax, domain and MX, SMTP, flags',
    'only the records tell of it: 2.7',
  ),
  notObservable(
    '1.3',
    'how phones are verified: type, live status, porting, operator',
    'only the records tell of it: 2.7',
  ),
  spend(
    '1.4',
    'batch mode: upload, parameters, preparation, launch, polling, export',
    async (subject) => {
      const { uuid, addresses } = await subject.verified('email');
      const records = await subject.exported(
        uuid,
        '&include_details=false&include_statistics=false',
      );
      expectThat(
        Object.keys(records).length === addresses.length,
        'the export has not one record for each address',
      );
    },
  ),
  spend('1.5', 'unit mode: one record in one request, in up to 5 seconds', async (subject) => {
    const { tookMs } = await unitAnswer(subject);
    expectThat(tookMs <= 5000, `it took ${Math.round(tookMs)} ms`);
  }),
  free('1.6', 'a TXT file is normalized for a type and a country', async (subject) => {
    const form = subject.form({ name: null, type: 'phone' }, '(202) 555-0143\n');
    expectTaken(await subject.ask('POST', '/v1/format', { form }), 'a file to normalize');
  }),
  read('1.7', 'the account holds an email and a phone credit balance', async (subject) => {
    for (const type of verificationTypes) {
      const balance = await subject.balance(type);
      expectThat(Number.isFinite(balance), `the ${type} balance is missing`);
    }
  }),
  spend('1.8', '1 email credit per email address verified', async (subject) =>
    expectSpent(await subject.verified('email')),
  ),
  spend('1.9', '1 phone credit per phone number verified', async (subject) =>
    expectSpent(await subject.verified('phone')),
  ),
  free('1.10', 'credits are not deducted at upload', async (subject) => {
    const before = await subject.balance('email');
    await subject.prepare(await subject.newBatch());
    const spent = before - (await subject.balance('email'));
    expectThat(spent === 0, `an upload and its preparation cost ${spent} credits`);
  }),
  spend('1.11', 'credits are deducted when verification launches', async (subject) => {
    const { balances, addresses } = await subject.verified('email');
    const spent = balances[0] - balances[1];
    expectThat(
      spent === addresses.length,
      `right after the launch, ${spent} credits were deducted for ${addresses.length} addresses`,
    );
  }),
  spend(
    '1.12',
    'each cache hit gives a 50% refund; caches are enabled by default',
    async (subject) => {
      const { balances } = await subject.again();
      const spent = balances[0] - balances[2];
      expectThat(spent === 0.5, `an address verified a moment before cost ${spent} credits again`);
    },
  ),
  notObservable(
    '1.13',
    'caches are checked in order: account first, then global',
    'from outside, a hit is a hit',
  ),
  notObservable(
    '1.14',
    'with the global cache, results are shared anonymously with other accounts',
    'needs two accounts',
  ),
  free(
    '1.15',
    'batch files: plain TXT, UTF-8, one address per line, no header, no commas',
    async (subject) => {
      const lines = [...subject.newAddresses('email', 2), 'jürgen@example.com'];
      for (const end of ['\n', '\r\n']) {
        const answer = await subject.upload(subject.form({}, lines.join(end)));
        const { status } = objectOf(answer, 'the upload of a list of lines');
        expectThat(status === 'ok', `a list of lines was answered with ${String(status)}`);
      }
    },
  ),
  notObservable(
    '1.16',
    'phone numbers are recommended in E.164',
    'a recommendation to those who upload',
  ),
];

function expectSpent({ balances: [before, , done], addresses }: VerifiedBatch): void {
  const [spent, wanted] = [before - done, addresses.length];
  expectThat(spent === wanted, `${wanted} addresses, verified without caches, cost ${spent}`);
}
