import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outcomeVerdicts } from '../../../src/live/email-verifier.js';
import { judgeReply, judgeSession, replyRules } from '../../../src/live/smtp/reply-rules.js';
import { replySubjects } from '../../../src/live/smtp/reply-subjects.js';
import { ReplyReader, type Reply } from '../../../src/live/smtp/reply-reader.js';
import { Page } from '../../docs/page.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

const page = new Page('docs/reference/live-verification.md');

/** The cells of a table, its head left out. */
function cellsUnder(heading: string): string[][] {
  const rows = page
    .section(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('the documented table of replies', () => {
  it('is the one that decides', () => {
    const known = replyRules.map(({ codes, enhanced = [], about = '', finding, because }) => [
      codes.map((code) => (code < 10 ? `${code}xx` : String(code))).join(', '),
      enhanced.map((code) => (code.includes('.') ? `x.${code}` : `x.${code}.x`)).join(', '),
      about,
      finding,
      because,
    ]);
    expect(cellsUnder('## Replies to RCPT')).toEqual(known);
  });

  it('has the words that decide, and where they were seen', () => {
    const known = Object.entries(replySubjects).map(([name, subject]) => {
      const lists =
        'words' in subject
          ? [subject.words.join(', ')]
          : [subject.near.first.join(', '), subject.near.after.join(', ')];
      return { name, seen: subject.seen, lists };
    });
    const shown = page
      .section('## Words of refusals')
      .split('\n')
      .filter((line) => line.startsWith('- **'))
      .map((line) => {
        const [, name, seen = ''] = /^- \*\*(.*?)\*\* \((.*)\): `/.exec(line) ?? [];
        return { name, seen, lists: [...line.matchAll(/`([^`]*)`/g)].map(([, list]) => list) };
      });
    expect(shown).toEqual(known);
  });

  it('of outcomes is the one that decides', () => {
    const known = Object.entries(outcomeVerdicts).map(([outcome, verdict]) => [
      outcome,
      verdict.valid ? 'valid' : verdict.wrong ? 'wrong' : 'unknown',
      verdict.quality,
      verdict.result,
      String(verdict.is_catch_all),
    ]);
    expect(cellsUnder('## Outcomes').map((cells) => cells.slice(0, 5))).toEqual(known);
  });
});

const read = (text: string | Buffer): Reply[] => new ReplyReader().push(Buffer.from(text));
const reply = (text: string): Reply => {
  const [first] = read(`${text}\r\n`);
  if (!first) throw new Error('no reply');
  return first;
};

describe('a reply to RCPT', () => {
  it.each([
    ['250 2.1.5 OK', 'accepted'],
    ['250 Accepted', 'accepted'],
    [
      '550 5.1.1 <x@y>: Recipient address rejected: User unknown in local recipient table',
      'no_mailbox',
    ],
    [
      '550-5.1.1 The email account that you tried to reach does not exist.\r\n550 5.1.1 try',
      'no_mailbox',
    ],
    ['550 5.5.0 Requested action not taken: mailbox unavailable', 'no_mailbox'],
    ['550 Requested action not taken: mailbox unavailable', 'no_mailbox'],
    ["554 delivery error: dd This user doesn't have a mailbox.com account", 'no_mailbox'],
    ['550 No such user here', 'no_mailbox'],
    ['550 Unrouteable address', 'no_mailbox'],
    ['550 5.4.1 Recipient address rejected: Access denied.', 'refused'],
    ['550 5.7.1 Service unavailable; client host blocked using Spamhaus', 'not_told'],
    ['554 5.7.1 <x>: Relay access denied', 'not_told'],
    ['550 Verification failed for <probe@a.b>', 'not_told'],
    ['550 Sender verify failed', 'not_told'],
    ['553 sorry, your IP is in our blacklist', 'not_told'],
    ['554 Transaction failed', 'refused'],
    ['552 5.2.2 The email account is over quota', 'full'],
    ['452 4.2.2 The email account is over quota', 'full'],
    ['450 4.2.0 Greylisted, see http://postgrey', 'temporary'],
    ['451 4.7.1 Try again later', 'temporary'],
    ['452 4.5.3 Too many recipients', 'too_many'],
    ['452 Too many recipients received this hour', 'too_many'],
    ['452 4.3.1 Insufficient system storage', 'temporary'],
    ['421 4.7.0 closing', 'temporary'],
    ['550 5.2.1 disabled', 'disabled'],
    ['556 5.1.10 null MX', 'no_mailbox'],
    ['521 5.3.2 does not accept mail', 'no_mailbox'],
    ['252 2.0.0 cannot VRFY', 'not_told'],
    ['354 go ahead', 'failed'],
    ['503 5.5.1 need MAIL', 'failed'],
    ['530 5.7.0 Authentication required', 'not_told'],
  ])('%s: %s', (text, finding) => {
    expect(judgeReply(reply(text))).toBe(finding);
  });

  it('always has one finding, whatever it is', () => {
    const texts = unicodeText({ maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), texts, (code, text) => {
        const lines = [text.replaceAll('\n', ' ')];
        expect(typeof judgeReply({ code, enhanced: undefined, lines })).toBe('string');
        expect(typeof judgeSession({ code, enhanced: undefined, lines })).toBe('string');
      }),
    );
  });
});

describe('words of a reply', () => {
  it.each([
    ['521 5.3.2 Service currently unavailable', 'not_told'],
    [
      '521 5.7.1 Service unavailable; client [192.0.2.1] blocked using zen.spamhaus.org',
      'not_told',
    ],
    ['550 5.1.1 <x@y> - 192.0.2.1 has sent to too many recipients this hour.', 'not_told'],
    ['550 Mailbox quota exceeded', 'full'],
    ['554 <x@y>: user is over quota', 'full'],
    ['550 5.2.0 Mailbox full', 'full'],
    ['552 5.1.1 Boîte du destinataire pleine. Recipient overquota. OFR_417', 'full'],
    [
      '550-5.2.1 The user you are trying to contact is receiving mail at\r\n550 5.2.1 a rate that',
      'busy',
    ],
    ['550 5.2.1 <x@y>... User unknown', 'no_mailbox'],
    ['550 Unknown local part bert', 'no_mailbox'],
    ['550 5.7.1 No such user!', 'no_mailbox'],
    ['550-Callout verification failed:\r\n550 550 5.1.1 User unknown', 'no_mailbox'],
    [
      '550-Verification failed for <probe@a.b>\r\n550-Response: 550 No such user\r\n550 Sender verify failed',
      'not_told',
    ],
    ['550 5.1.1 <x@y>: User unknown in relay recipient table', 'no_mailbox'],
    ['550 5.1.0 <x@y> sender rejected', 'not_told'],
    ['550 5.0.0 rejected, listed at bl.spamcop.net', 'not_told'],
    ['550 SBRS score too low', 'not_told'],
    ["553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", 'not_told'],
    [
      '550-Requested action not taken: mailbox unavailable\r\n550 Reject due to policy restrictions.',
      'not_told',
    ],
    ['550 5.5.0 Le compte du destinataire est bloqué.', 'disabled'],
    ['550 Benutzer nicht bekannt/User unknown', 'no_mailbox'],
    ['550 5.4.1 [x@y]: Recipient address rejected: Access denied.', 'refused'],
    ['554 5.7.1 <blocked@y>: Recipient address rejected: User unknown', 'no_mailbox'],
  ])('come before codes: %j: %s', (text, finding) => {
    expect(judgeReply(reply(text))).toBe(finding);
  });
});

describe('the reader of replies', () => {
  const text =
    '220-one\r\n220 two\r\n250-5.1.1 x\r\n250-\r\n250 2.1.5 y\r\n550 5.7.1 no\r\n221\r\n';

  it('gives the same replies however the bytes arrive', () => {
    const whole = read(text);
    expect(whole.map(({ code, enhanced }) => [code, enhanced])).toEqual([
      [220, undefined],
      [250, '1.5'],
      [550, '7.1'],
      [221, undefined],
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const reader = new ReplyReader();
        const ends = [...cuts.toSorted((x, y) => x - y), text.length];
        let begin = 0;
        const replies = ends.flatMap((end) => {
          const piece = reader.push(Buffer.from(text.slice(begin, end)));
          begin = end;
          return piece;
        });
        expect(replies).toEqual(whole);
        expect(reader.isInside).toBe(false);
      }),
    );
  });

  it.each<[string, string | Buffer]>([
    ['a line without an end', 'x'.repeat(3000)],
    ['too many lines', '250-x\r\n'.repeat(101)],
    ['no code', 'hello\r\n'],
    ['a code of another size', '2500 x\r\n'],
    ['another class', '650 x\r\n'],
    ['codes that differ', '250-x\r\n550 y\r\n'],
    ['an empty line', '\r\n'],
    ['bytes', Buffer.from([0xff, 0x0a])],
  ])('refuses %s', (_what, bytes) => {
    expect(() => read(bytes)).toThrow(expect.objectContaining({ kind: 'protocol' }));
  });

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        try {
          new ReplyReader().push(bytes);
        } catch (error) {
          expect(error).toMatchObject({ kind: 'protocol' });
        }
      }),
    );
  });
});
