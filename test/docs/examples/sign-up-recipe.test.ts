import ts from 'typescript';
import { describe, expect, it, vi } from 'vitest';
import { isSluiceError, verifyAddress, verifyRows } from '../../../src/index.js';
import type { FaultPlan } from '../../../src/service/index.js';
import { chargesOf } from '../../cli/harness/charges.js';
import { caught } from '../../client/test-client.js';
import { withClient } from '../../engine/streams/harness/with-client.js';
import { Page } from '../page.js';

type CheckEmail = (email: string) => Promise<{ readonly verification: string }>;

/** The page's function, and its service, on which this goes wrong. */
async function recipeWith(what: FaultPlan['faults'][number]['what'], when: 'before' | 'after') {
  vi.spyOn(console, 'error').mockReturnValue();
  const faults = { faults: [{ operation: 'verifyUnit', when, what } as const] };
  const { service, client } = await withClient({ faults });
  const block = new Page('docs/in-code.md').blocks('ts').find(({ text }) => {
    return text.includes('function checkEmail');
  });
  const typed = block?.text.replace(/^import .*\n/gm, '').replace('export ', '') ?? '';
  const { outputText } = ts.transpileModule(typed, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  });
  // oxlint-disable-next-line typescript/no-implied-eval
  const make = new Function(
    'Client',
    'isSluiceError',
    'verifyAddress',
    `${outputText}; return checkEmail;`,
  ) as (...given: unknown[]) => CheckEmail;
  const check = make(
    function Client() {
      return client;
    },
    isSluiceError,
    verifyAddress,
  );
  return { service, client, check };
}

describe('the sign-up of the page', () => {
  const emails = ['good+1@sluice.test', 'good+2@sluice.test', 'good+3@sluice.test'];

  it.each([
    ['an answer that is lost after it was paid', { reset: true }, 'after', 'in_doubt'],
    ['a request that is refused for its rate', { answer: { status: 429 } }, 'before', 'later'],
  ] as const)('pays once after %s', async (_, what, when, verification) => {
    const { service, client, check } = await recipeWith(what, when);
    const later: { readonly email: string }[] = [];
    for (const email of emails) {
      const verdict = await check(email);
      expect(verdict).toMatchObject({ verification });
      if (verdict.verification === 'later') later.push({ email });
    }
    const options = { client, email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
    for await (const { email_valid } of verifyRows(later, options)) expect(email_valid).toBe(true);
    const paid = (await chargesOf(service)).map(({ address }) => address).toSorted();
    expect(paid).toEqual(emails);
  });

  it.each([
    [401, 'unauthorized'],
    [402, 'payment_required'],
  ])('promises nothing after %s, which needs a person', async (status, code) => {
    const { check } = await recipeWith({ answer: { status } }, 'before');
    expect(await caught(check('good@sluice.test'))).toMatchObject({ code });
  });
});
