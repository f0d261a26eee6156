import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkEngine, type Verdict } from '../../../src/service/index.js';
import { outcomeVerdicts } from '../../../src/live/email-verifier.js';
import { Page } from '../../docs/page.js';
import { openLab, verifyLive, type Lab } from './lab.js';
import { situations } from './situations.js';

const options = {
  heloName: 'verify.sluice-lab.net',
  allowedRanges: ['127.0.0.0/8'],
  retryDelaysMs: [30, 60],
  resolverTimeoutMs: 10_000,
};

// All situations are asked for at once, as in a batch; each test looks at its own.
describe('situations of mail', () => {
  let lab: Lab;
  let verdicts: Map<string, Verdict>;
  const addressesOf = (index: number) =>
    Object.keys(situations[index]?.asks ?? {}).map((local) => `${local}@${lab.domains[index]}`);

  beforeAll(async () => {
    lab = await openLab(situations);
    const shared = { ...options, resolvers: [lab.resolver], smtpPort: lab.port };
    const patient = await networkEngine({ ...shared, replyTimeoutMs: 30_000 });
    const hasty = await networkEngine({ ...shared, replyTimeoutMs: 150, retryDelaysMs: [30] });
    const all = situations.map(({ isSlow }, index) => ({ isSlow, addresses: addressesOf(index) }));
    const of = (slow: true | undefined) =>
      all.filter(({ isSlow }) => isSlow === slow).flatMap(({ addresses }) => addresses);
    const [quick, slow] = await Promise.all([
      verifyLive(patient, of(undefined)),
      verifyLive(hasty, of(true)),
    ]);
    verdicts = new Map([...quick, ...slow]);
    patient.close?.();
    hasty.close?.();
  });
  afterAll(() => lab.close());

  it('are 250 at least', () => {
    expect(situations.length).toBeGreaterThanOrEqual(250);
    expect(new Set(situations.map(({ what }) => what)).size).toBe(situations.length);
  });

  it('are counted in the documentation as they are judged', () => {
    const row = new Page('docs/reference/live-verification.md')
      .section('## How it is checked')
      .split('\n')
      .find((line) => line.startsWith('| Sluice'));
    const all = [...verdicts.values()];
    const count = (bucket: 'valid' | 'wrong' | 'unknown') =>
      all.filter((verdict) => verdict[bucket]).length;
    const shown = (row ?? '').split('|').map((cell) => cell.trim());
    expect(shown.slice(1, -1)).toEqual(
      ['Sluice', all.length, count('valid'), count('wrong'), count('unknown'), 0, 0].map(String),
    );
  });

  it.each(situations.map(({ what }, index) => [what, index] as const))('%s', (_what, index) => {
    const { asks = {}, flags = {} } = situations[index] ?? {};
    for (const [local, outcome] of Object.entries(asks)) {
      const expected = outcomeVerdicts[outcome];
      expect(verdicts.get(`${local}@${lab.domains[index]}`), local).toEqual({
        ...expected,
        quality: flags.is_disposable && !expected.wrong ? 'risky' : expected.quality,
        is_syntax_error: false,
        is_free: false,
        is_role: local === 'info',
        is_disposable: false,
        ...flags,
      });
    }
  });

  it('never send a message', () => {
    const verbs = lab.exchangers.flatMap((exchanger) =>
      (exchanger?.commands ?? []).map((command) => command.split(/[ :]/, 1)[0]),
    );
    expect(new Set(verbs)).toEqual(new Set(['EHLO', 'HELO', 'MAIL', 'RCPT', 'STARTTLS', 'QUIT']));
  });

  it('ask for no address but those of the list, made-up names and postmaster', () => {
    for (const [index, exchanger] of lab.exchangers.entries()) {
      const wanted = new Set(addressesOf(index).map((address) => address.replace(/@.*?$/su, '')));
      for (const address of exchanger?.asked ?? []) {
        const local = address.slice(0, address.lastIndexOf('@'));
        const isOurs = wanted.has(local) || local === 'postmaster' || /^[a-z0-9]{20}$/.test(local);
        expect(isOurs, address).toBe(true);
      }
    }
  });
});
