import { type Clause, type VerifiedBatch, unitAnswer } from '../subject.js';
import { verificationTypes } from '../expected.js';
import { expectTaken, objectOf, expectThat } from '../shapes.js';

/** What the service does (spec 1). */
export const section1: readonly Clause[] = [
  {
    id: '1.1',
    says: 'verifies two kinds of data, email and phone',
    need: 'free',
    async check(subject) {
      for (const type of verificationTypes) {
        const form = subject.form({ type }, subject.newAddresses(type, 1).join('\n'));
        expectTaken(await subject.upload(form), `an upload of type ${type}`);
      }
    },
  },
  {
    id: '1.2',
    says: 'how emails are verified: syntax, domain and MX, SMTP, flags',
    notObservable: 'only the records tell of it: 2.7',
  },
  {
    id: '1.3',
    says: 'how phones are verified: type, live status, porting, operator',
    notObservable: 'only the records tell of it: 2.7',
  },
  {
    id: '1.4',
    says: 'batch mode: upload, parameters, preparation, launch, polling, export',
    need: 'spend',
    async check(subject) {
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
  },
  {
    id: '1.5',
    says: 'unit mode: one record in one request, in up to 5 seconds',
    need: 'spend',
    async check(subject) {
      const { tookMs } = await unitAnswer(subject);
      expectThat(tookMs <= 5000, `it took ${Math.round(tookMs)} ms`);
    },
  },
  {
    id: '1.6',
    says: 'a TXT file is normalized for a type and a country',
    need: 'free',
    async check(subject) {
      const form = subject.form({ name: null, type: 'phone' }, '(202) 555-0143\n');
      expectTaken(await subject.ask('POST', '/v1/format', { form }), 'a file to normalize');
    },
  },
  {
    id: '1.7',
    says: 'the account holds an email and a phone credit balance',
    need: 'read',
    async check(subject) {
      for (const type of verificationTypes) {
        const balance = await subject.balance(type);
        expectThat(Number.isFinite(balance), `there is no ${type} balance`);
      }
    },
  },
  {
    id: '1.8',
    says: '1 email credit per email address verified',
    need: 'spend',
    check: async (subject) => expectSpent(await subject.verified('email')),
  },
  {
    id: '1.9',
    says: '1 phone credit per phone number verified',
    need: 'spend',
    check: async (subject) => expectSpent(await subject.verified('phone')),
  },
  {
    id: '1.10',
    says: 'credits are not deducted at upload',
    need: 'free',
    async check(subject) {
      const before = await subject.balance('email');
      await subject.prepare(await subject.newBatch());
      const spent = before - (await subject.balance('email'));
      expectThat(spent === 0, `an upload and its preparation cost ${spent} credits`);
    },
  },
  {
    id: '1.11',
    says: 'credits are deducted when verification launches',
    need: 'spend',
    async check(subject) {
      const { balances, addresses } = await subject.verified('email');
      const spent = balances[0] - balances[1];
      expectThat(
        spent === addresses.length,
        `right after the launch, ${spent} credits were deducted for ${addresses.length} addresses`,
      );
    },
  },
  {
    id: '1.12',
    says: 'each cache hit gives a 50% refund; caches are enabled by default',
    need: 'spend',
    async check(subject) {
      const { balances } = await subject.again();
      const spent = balances[0] - balances[2];
      expectThat(spent === 0.5, `an address verified a moment before cost ${spent} credits again`);
    },
  },
  {
    id: '1.13',
    says: 'caches are checked in order: account first, then global',
    notObservable: 'from outside, a hit is a hit',
  },
  {
    id: '1.14',
    says: 'with the global cache, results are shared anonymously with other accounts',
    notObservable: 'needs two accounts',
  },
  {
    id: '1.15',
    says: 'batch files: plain TXT, UTF-8, one address per line, no header, no commas',
    need: 'free',
    async check(subject) {
      const lines = [...subject.newAddresses('email', 2), 'jürgen@example.com'];
      for (const end of ['\n', '\r\n']) {
        const answer = await subject.upload(subject.form({}, lines.join(end)));
        const { status } = objectOf(answer, 'the upload of a list of lines');
        expectThat(status === 'ok', `a list of lines was answered with ${String(status)}`);
      }
    },
  },
  {
    id: '1.16',
    says: 'phone numbers are recommended in E.164',
    notObservable: 'a recommendation to whoever uploads',
  },
];

function expectSpent({ balances: [before, , done], addresses }: VerifiedBatch): void {
  const [spent, wanted] = [before - done, addresses.length];
  expectThat(spent === wanted, `${wanted} addresses, verified without caches, cost ${spent}`);
}
