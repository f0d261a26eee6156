import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { countryCodes } from '../../../../src/contract/countries.js';
import { judgeEmail } from '../../../../src/service/verification/judge-email.js';
import { judgePhone, readPhone } from '../../../../src/service/verification/judge-phone.js';

const emailLabel = z.object({
  email: z.string(),
  is_syntax_error: z.boolean(),
  is_free: z.boolean(),
  is_role: z.boolean(),
  is_disposable: z.boolean(),
  why: z.string(),
});
const phoneLabel = z.object({
  phone: z.string(),
  country: z.enum(countryCodes),
  e164: z.string().nullable(),
  valid: z.boolean(),
  type: z.string().nullable(),
  why: z.string(),
});

function labels<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema>[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => schema.parse(JSON.parse(line)));
}

/** Legal in RFC 5321, and refused all the same: no mail of the internet reaches one label or an address. */
const unreachable = /@(?:\[.*|[^.]*)$/;
const refused = { is_syntax_error: true, is_free: false, is_role: false, is_disposable: false };

describe('the labelled emails', () => {
  const list = labels('emails.jsonl', emailLabel).map((label) =>
    unreachable.test(label.email) ? { ...label, ...refused } : label,
  );

  it('agree with every verdict', () => {
    const differing = list.flatMap((label) => {
      const verdict = judgeEmail(label.email);
      const { is_syntax_error, is_free, is_role, is_disposable } = verdict;
      const same =
        is_syntax_error === label.is_syntax_error &&
        is_free === label.is_free &&
        is_role === label.is_role &&
        is_disposable === label.is_disposable;
      return same ? [] : [{ label, verdict }];
    });
    expect(list.length).toBeGreaterThan(500);
    expect(differing).toEqual([]);
  });

  it('are never called valid, for that is a thing only a network could tell', () => {
    expect(list.filter(({ email }) => judgeEmail(email).valid)).toEqual([]);
  });

  it('are wrong when they are malformed', () => {
    const malformed = list.filter((label) => label.is_syntax_error);
    expect(malformed.filter(({ email }) => !judgeEmail(email).wrong)).toEqual([]);
  });
});

/**
 * Labels that this engine does not follow, and why. A label that changes must leave this list: the test
 * demands that they still differ.
 */
const disputed: ReadonlyMap<string, string> = new Map([
  ...['+447700900123', '+447700900461', '+33639981234'].map(
    (e164) =>
      [
        e164,
        'set aside for drama: never assigned, so that no such number reaches anybody',
      ] as const,
  ),
  ['+39 320 123 4567 89', 'the plan has voicemail numbers of 11 and 12 digits that begin with 3'],
  [
    '+56961234567',
    'fixed and mobile numbers share their ranges since both are portable into each other',
  ],
  ['0065 6123 4567', 'Singapore dials abroad with 000, 001, 002 or 008, never with 00'],
]);

describe('the labelled phones', () => {
  const list = labels('phones.jsonl', phoneLabel);
  const isDisputed = ({ phone, e164 }: z.output<typeof phoneLabel>) =>
    disputed.has(phone) || (e164 !== null && disputed.has(e164));
  const agrees = ({ phone, country, e164, valid, type }: z.output<typeof phoneLabel>) => {
    const verdict = judgePhone(phone, country);
    if (!valid) return !verdict.valid && verdict.wrong;
    return (
      verdict.valid &&
      verdict.type === (type ?? 'unknown') &&
      readPhone(phone, country)?.e164 === e164
    );
  };

  it('agree with every verdict', () => {
    expect(list.length).toBeGreaterThan(500);
    expect(list.filter((label) => !isDisputed(label) && !agrees(label))).toEqual([]);
  });

  it('still differ where they are disputed', () => {
    expect(list.filter((label) => isDisputed(label) && agrees(label))).toEqual([]);
  });
});
