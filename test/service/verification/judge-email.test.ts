import { describe, expect, it } from 'vitest';
import { emailRecord } from '../../../src/contract/records.js';
import { judgeEmail } from '../../../src/service/verification/judge-email.js';

describe('the verdict of an email', () => {
  it('is unknown for whatever only a mail server could tell', () => {
    expect(judgeEmail('ana.ruiz@fjordwool.com')).toEqual({
      valid: false,
      wrong: false,
      unknown: true,
      quality: 'unknown',
      result: 'unknown',
      is_syntax_error: false,
      is_free: false,
      is_role: false,
      is_disposable: false,
      is_catch_all: false,
    });
  });

  it('is wrong for what is malformed', () => {
    expect(judgeEmail('ana@@fjordwool.com')).toMatchObject({
      wrong: true,
      quality: 'bad',
      result: 'invalid',
      is_syntax_error: true,
    });
  });

  it.each([
    'a@fjordwool.example',
    'a@example.com',
    'a@mail.example.org',
    'a@x.invalid',
    'a@x.test',
    'a@notsluice.test',
    'a@mail.localhost',
    'a@printer.local',
    'a@x.onion',
    'a@fjordwool.123',
  ])('is wrong, but no syntax error, where no mail can be: %s', (address) => {
    expect(judgeEmail(address)).toMatchObject({
      wrong: true,
      unknown: false,
      quality: 'bad',
      result: 'invalid',
      is_syntax_error: false,
    });
  });

  it.each(['a@notexample.com', 'a@example.co', 'a@localhost.com', 'a@test.de'])(
    'is unknown where mail could be: %s',
    (address) => {
      expect(judgeEmail(address).unknown).toBe(true);
    },
  );

  it('is what the local part asks for at sluice.test and at any domain below it', () => {
    for (const domain of ['sluice.test', 'shop.sluice.test', 'SHOP.Sluice.Test']) {
      expect(judgeEmail(`anna@${domain}`)).toMatchObject({ valid: true, quality: 'good' });
      expect(judgeEmail(`anna.bad@${domain}`)).toMatchObject({ wrong: true, result: 'invalid' });
    }
  });

  it.each([
    'orange.fr',
    'free.fr',
    't-online.de',
    'libero.it',
    'ziggo.nl',
    'comcast.net',
    'gmail.com',
  ])('says of %s that it is a free provider', (domain) => {
    expect(judgeEmail(`ana@${domain}`)).toMatchObject({ is_free: true, is_disposable: false });
  });

  it.each<[string, boolean]>([
    ['info', true],
    ['info+fair', true],
    ['no-reply+7', true],
    ['ana+info', false],
    ['+info', false],
    ['info7', false],
  ])('says of the local part %s whether it names a function', (local, isRole) => {
    expect(judgeEmail(`${local}@fjordwool.com`).is_role).toBe(isRole);
  });

  it('is a risk for throw-away services, and below their names too', () => {
    for (const address of ['a@mailinator.com', 'a@x.mailinator.com']) {
      expect(judgeEmail(address)).toMatchObject({
        unknown: true,
        quality: 'risky',
        result: 'unknown',
        is_disposable: true,
      });
    }
  });

  it('tells roles and free providers apart', () => {
    expect(judgeEmail('No.Reply@GMAIL.com')).toMatchObject({ is_role: true, is_free: true });
    expect(judgeEmail('anna+news@gmail.com')).toMatchObject({ is_role: false, is_free: true });
  });

  it('is a whole record, and says one of valid, wrong and unknown', () => {
    for (const address of ['a@b.com', 'x', 'a@b.test', 'bad@sluice.test', 'info@yopmail.com']) {
      const verdict = judgeEmail(address);
      emailRecord.parse({ email: address, ...verdict });
      const { valid, wrong, unknown } = verdict;
      expect([valid, wrong, unknown].filter(Boolean)).toHaveLength(1);
    }
  });
});
