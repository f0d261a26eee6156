import type { Socket } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import type { MailOutcome } from '../../../src/live/smtp/questions.js';
import { mailboxes, noUser, pipelining, type Manner, type Word } from '../smtp/exchanger.js';
import { replySituations } from './situations-replies.js';
import type { Situation } from './situation.js';

const anna = mailboxes('anna', 'info');
const tells: Manner = { rcpt: anna };
const only = (words: Readonly<Record<string, Word>>): Manner => ({
  rcpt: (address) => words[address.replace(/@.*/s, '')] ?? noUser,
});
const some = { anna: 'accepted', bert: 'no_mailbox' } as const;
const slowly = (socket: Socket, text: string, everyMs: number): void => {
  let at = 0;
  const timer = setInterval(() => {
    socket.write(text[at % text.length] ?? '');
    at += 1;
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
};
/** Writes as much as the other side takes. */
const flood = (socket: Socket, piece: string): void => {
  const pour = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', pour);
  pour();
};
const many = (count: number, outcome: MailOutcome, name = 'no'): Record<string, MailOutcome> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, outcome]));
const smtpServer = (options: SMTPServerOptions = {}): SMTPServerOptions => ({
  authOptional: true,
  logger: false,
  ...options,
  onRcptTo({ address }, _session, callback) {
    if (/^(?:anna|jürgen)@/u.test(address)) return callback();
    return callback(Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }));
  },
});

/** Refuses whatever is asked for after six wrong names of a connection. */
function guard(refusal: Word): Manner {
  const wrong = new Map<number, number>();
  return {
    rcpt: (to, { connection }) => {
      const before = wrong.get(connection) ?? 0;
      if (before < 6 && /^(?:anna|carl)@/.test(to)) return '250 ok';
      wrong.set(connection, before + 1);
      return refusal;
    },
  };
}

function putsOffOnce(): Manner {
  const seen = new Set<string>();
  return {
    rcpt: (to) => {
      if (seen.has(to)) return anna(to);
      seen.add(to);
      return '450 4.2.0 Greylisted, see http://postgrey.schweikert.ch/';
    },
  };
}

/** The first time each address is asked for, `first`; afterwards what `then` says. */
function atFirst(first: Word, then: (address: string) => Word): Manner {
  const seen = new Set<string>();
  return {
    rcpt: (address) => {
      if (!/^(?:anna|bert)@/.test(address)) return noUser;
      if (seen.has(address)) return then(address);
      seen.add(address);
      return first;
    },
  };
}

const structures: readonly Situation[] = [
  // Where the mail goes
  { what: 'no such domain', asks: { anna: 'no_mailbox' }, zone: [] },
  {
    what: 'a null MX, beside an address',
    asks: { anna: 'no_mailbox' },
    zone: ['@ MX 0 .', '@ A IP'],
    manner: tells,
  },
  { what: 'an exchanger without an address', asks: { anna: 'no_mailbox' }, zone: ['@ MX 10 mx.@'] },
  { what: 'a domain with neither MX nor address', asks: { anna: 'no_mailbox' }, zone: ['@ TXT x'] },
  { what: 'no MX, so the domain itself', asks: some, zone: ['@ A IP'], manner: tells },
  {
    what: 'an exchanger that is an alias',
    asks: some,
    zone: ['@ MX 10 mx.@', 'mx.@ CNAME real.@', 'real.@ A IP'],
    manner: tells,
  },
  {
    what: 'a domain that is an alias',
    asks: some,
    zone: ['@ CNAME real.@', 'real.@ MX 5 mx.@', 'mx.@ A IP'],
    manner: tells,
  },
  {
    what: 'aliases in a circle',
    asks: { anna: 'failed' },
    zone: ['@ CNAME two.@', 'two.@ CNAME @'],
  },
  {
    what: 'an exchanger whose aliases go in a circle',
    asks: { anna: 'failed' },
    zone: ['@ MX 10 mx.@', 'mx.@ CNAME my.@', 'my.@ CNAME mx.@'],
  },
  {
    what: 'an exchanger that points back at its domain, which is a mail loop for its server alone',
    asks: some,
    zone: ['@ MX 10 @', '@ A IP'],
    manner: tells,
  },
  { what: 'a lame delegation', asks: { anna: 'failed' }, zone: ['@ NS ns.@', 'ns.@ A 127.0.0.54'] },
  { what: 'SERVFAIL', asks: { anna: 'failed' }, zone: [], domain: 'mail.broken' },
  { what: 'REFUSED', asks: { anna: 'failed' }, zone: [], domain: 'mail.elsewhere' },
  {
    what: 'an exchanger in a private range',
    asks: { anna: 'not_told' },
    zone: ['@ MX 10 mx.@', 'mx.@ A 10.1.2.3'],
  },
  {
    what: 'one exchanger in a private range, and one that may be asked',
    asks: some,
    zone: ['@ MX 10 mx.@', '@ MX 20 my.@', 'mx.@ A 192.168.1.1', 'my.@ A IP'],
    manner: tells,
  },
  {
    what: 'the first exchanger is down, the second answers',
    asks: some,
    zone: ['@ MX 10 mx.@', '@ MX 20 my.@', 'mx.@ A 127.0.2.250', 'my.@ A IP'],
    manner: tells,
  },
  {
    what: 'the first address of an exchanger is down',
    asks: some,
    zone: ['@ MX 10 mx.@', 'mx.@ A 127.0.0.250', 'mx.@ A IP'],
    manner: tells,
  },
  { what: 'a domain in another script', asks: some, domain: 'bücher.lab', manner: tells },
  {
    what: 'so many exchangers that the answer needs TCP',
    asks: some,
    zone: [
      ...Array.from({ length: 120 }, (_, at) => `@ MX ${at + 10} mx${at}.some.long.name.@`),
      'mx0.some.long.name.@ A IP',
    ],
    manner: tells,
  },
  { what: 'a reserved name, never asked', asks: { anna: 'no_mailbox' }, domain: 'mail.example' },
  {
    what: 'a name of one label, never asked',
    asks: { anna: 'no_mailbox' },
    flags: { is_syntax_error: true },
    domain: 'localhost',
  },
  {
    what: 'a syntax error',
    asks: { 'anna..b': 'no_mailbox' },
    flags: { is_syntax_error: true },
    manner: {},
  },

  // Reaching it
  { what: 'an exchanger that is down', asks: { anna: 'failed' } },
  {
    what: 'a silent exchanger',
    asks: { anna: 'failed' },
    manner: { greeting: 'silence' },
    isSlow: true,
  },
  {
    what: 'a tarpit: a greeting that drips without an end',
    asks: { anna: 'failed' },
    manner: { raw: (socket) => slowly(socket, '220-patience\r\n', 20) },
    isSlow: true,
  },
  {
    what: 'an exchanger that stops answering at RCPT',
    asks: { anna: 'failed' },
    manner: { rcpt: () => 'silence' },
    isSlow: true,
  },
  { what: 'a broken banner', asks: { anna: 'failed' }, manner: { greeting: 'hello there' } },
  {
    what: 'a banner of something else',
    asks: { anna: 'failed' },
    manner: { greeting: 'SSH-2.0-OpenSSH_9.2p1' },
  },
  { what: 'an empty banner', asks: { anna: 'failed' }, manner: { greeting: '' } },
  { what: 'a connection cut at once', asks: { anna: 'failed' }, manner: { greeting: 'drop' } },
  {
    what: 'a greeting that blocks the asker',
    asks: { anna: 'not_told', bert: 'not_told' },
    manner: { greeting: '554 5.7.1 your address is on a block list' },
  },
  {
    what: 'a greeting that is always busy',
    asks: { anna: 'not_told' },
    manner: { greeting: '421 4.3.2 too busy' },
  },
  {
    what: 'a host that takes no mail',
    asks: { anna: 'no_mailbox' },
    manner: { greeting: '521 5.3.2 this host does not accept mail' },
  },
  {
    what: 'a greeting of several lines',
    asks: some,
    manner: { ...tells, greeting: '220-welcome\r\n220-to\r\n220 exchanger.lab' },
  },

  // Greeting
  { what: 'no EHLO, but HELO', asks: some, manner: { ...tells, ehlo: '502 5.5.1 what?' } },
  {
    what: 'neither EHLO nor HELO',
    asks: { anna: 'not_told' },
    manner: { ehlo: '502 no', helo: '550 5.7.1 not you' },
  },
  { what: 'a cut after EHLO', asks: { anna: 'failed' }, manner: { ehlo: 'drop' } },
  {
    what: 'many extensions',
    asks: some,
    manner: {
      ...tells,
      ehlo: `${Array.from({ length: 60 }, (_, at) => `250-X-EXTENSION-${at}`).join('\r\n')}\r\n250 OK`,
    },
  },
  {
    what: 'lines of one reply with different codes',
    asks: { anna: 'failed' },
    manner: { ehlo: '250-exchanger.lab\r\n550 no' },
  },
  { what: 'no pipelining', asks: some, manner: { ...tells, ehlo: '250 exchanger.lab' } },
  { what: 'lines that end with LF alone', asks: some, manner: { ...tells, ehlo: '250-a\n250 b' } },

  // TLS
  { what: 'STARTTLS with a certificate of its own', asks: some, server: smtpServer() },
  {
    what: 'STARTTLS offered, and not available',
    asks: some,
    manner: { ...tells, ehlo: '250-a\r\n250 STARTTLS' },
  },
  {
    what: 'TLS that fails: once more without',
    asks: some,
    manner: { raw: badTls('220 go ahead', 'this is no TLS') },
  },
  {
    what: 'words slipped in between STARTTLS and TLS',
    asks: some,
    manner: { raw: badTls('220 go ahead\r\n250 as if under TLS', '') },
  },
  {
    what: 'an exchanger that asks for TLS and offers none',
    asks: { anna: 'not_told' },
    manner: { mail: '530 5.7.0 Must issue a STARTTLS command first' },
  },

  // MAIL
  {
    what: 'the sender is refused',
    asks: { anna: 'not_told' },
    manner: { mail: '550 5.7.1 sender refused' },
  },
  {
    what: 'the sender is put off for ever',
    asks: { anna: 'not_told' },
    manner: { mail: '451 4.7.1 try later' },
  },
  { what: 'a cut after MAIL', asks: { anna: 'failed' }, manner: { mail: 'drop' } },

  // RCPT
  { what: 'a domain that tells', asks: some, manner: tells },
  { what: 'forwarding', asks: { anna: 'accepted' }, manner: only({ anna: '251 will forward' }) },
  {
    what: 'would take it without knowing',
    asks: { anna: 'not_told' },
    manner: only({ anna: '252 2.1.5 cannot verify' }),
  },
  {
    what: 'a full mailbox',
    asks: { anna: 'full' },
    manner: only({ anna: '552 5.2.2 mailbox full' }),
  },
  {
    what: 'a full mailbox, for now',
    asks: { anna: 'full' },
    manner: only({ anna: '452 4.2.2 over quota' }),
  },
  {
    what: 'a full mailbox, without an enhanced code',
    asks: { anna: 'full' },
    manner: only({ anna: '552 exceeded storage allocation' }),
  },
  {
    what: 'a disabled mailbox',
    asks: { anna: 'disabled' },
    manner: only({ anna: '550 5.2.1 disabled' }),
  },
  {
    what: 'a policy',
    asks: { anna: 'not_told', bert: 'no_mailbox' },
    manner: only({ anna: '550 5.7.1 not allowed' }),
  },
  {
    what: 'a block list, named in the text alone',
    asks: { anna: 'not_told' },
    manner: { rcpt: () => '550 blocked using zen.spamhaus.org' },
  },
  {
    what: 'relaying denied',
    asks: { anna: 'not_told' },
    manner: { rcpt: () => '554 Relay access denied' },
  },
  {
    what: 'an unknown user, named in the text alone',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: { rcpt: (to) => (to.startsWith('anna@') ? '250 ok' : '550 User unknown') },
  },
  {
    what: 'refused without a reason, by one who takes postmaster',
    asks: { bert: 'not_told' },
    manner: { rcpt: (to) => (to.startsWith('postmaster@') ? '250 ok' : '550 no') },
  },
  {
    what: 'refused without a reason, whoever is asked for',
    asks: { bert: 'not_told' },
    manner: { rcpt: () => '550 no' },
  },
  {
    what: 'refused without a reason, by one who takes another name',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: { rcpt: (to) => (to.startsWith('anna@') ? '250 ok' : '550 no') },
  },
  {
    what: 'access denied, by one who takes another name',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: {
      rcpt: (to) =>
        to.startsWith('anna@')
          ? '250 2.1.5 ok'
          : '550 5.4.1 Recipient address rejected: Access denied.',
    },
  },
  {
    what: 'not here, and not forwarded',
    asks: { anna: 'no_mailbox' },
    manner: only({ anna: '551 please try <anna@elsewhere.lab>' }),
  },
  {
    what: 'a form of address that the server does not have',
    asks: { anna: 'no_mailbox' },
    manner: only({ anna: '553 5.1.3 bad form' }),
  },
  {
    what: 'a domain that takes no mail, said at RCPT',
    asks: { anna: 'no_mailbox' },
    manner: only({ anna: '556 5.1.10 null MX' }),
  },
  {
    what: 'a form that the server does not read',
    asks: { anna: 'not_told' },
    manner: only({ anna: '501 syntax' }),
  },
  {
    what: 'a server that does not know RCPT',
    asks: { anna: 'failed' },
    manner: { rcpt: () => '500 5.5.1 unrecognized' },
  },
  {
    what: 'an enhanced code that contradicts its reply',
    asks: { anna: 'no_mailbox' },
    manner: only({ anna: '550 2.1.5 mailbox not found' }),
  },
  {
    what: 'a reply of several lines',
    asks: { anna: 'no_mailbox' },
    manner: only({ anna: '550-5.1.1 the account\r\n550-5.1.1 that you tried\r\n550 5.1.1 is not' }),
  },
  { what: 'a reply that is none', asks: { anna: 'failed' }, manner: { rcpt: () => 'yes, sure' } },

  // Later
  {
    what: 'greylisting, then taken',
    asks: { anna: 'accepted' },
    manner: atFirst('450 4.2.0 greylisted', () => '250 ok'),
  },
  {
    what: 'greylisting, then told',
    asks: { bert: 'no_mailbox' },
    manner: atFirst('451 4.7.1 come back', () => noUser),
  },
  {
    what: 'greylisting without an end',
    asks: { anna: 'not_told' },
    manner: only({ anna: '451 4.7.1 come back' }),
  },
  {
    what: 'greylisting by sender: the made-up name is put off too',
    asks: { anna: 'accepted' },
    manner: {
      rcpt: (to, { connection }) => (connection === 1 ? '450 4.7.1 greylisted' : anna(to)),
    },
  },

  // All and nothing
  {
    what: 'a catch-all',
    asks: { anna: 'catch_all', bert: 'catch_all' },
    manner: { rcpt: () => '250 ok' },
  },
  {
    what: 'a catch-all with pipelining and a reply of its own to everything',
    asks: { anna: 'catch_all' },
    manner: { rcpt: (to) => `250 2.1.5 <${to}> queued`, ehlo: pipelining },
  },
  {
    what: 'a made-up name is always put off: nobody knows whether it takes everything',
    asks: { anna: 'not_told' },
    manner: { rcpt: (to) => (to.startsWith('anna@') ? '250 ok' : '450 4.7.1 later') },
  },
  {
    what: '250 for everything after the tenth of a connection',
    asks: { ...many(14, 'no_mailbox'), anna: 'accepted' },
    manner: { rcpt: (to, { inConnection }) => (inConnection > 10 ? '250 ok' : anna(to)) },
  },
  {
    what: '250 for everything after the tenth ever',
    asks: { ...many(9, 'no_mailbox'), ...many(4, 'not_told', 'maybe') },
    manner: { rcpt: (to, { ever }) => (ever > 10 ? '250 ok' : anna(to)) },
  },
  {
    what: 'a domain that takes a mailbox of each role',
    asks: { info: 'accepted' },
    flags: { is_role: true },
    manner: tells,
  },
  {
    what: 'a free provider',
    asks: some,
    domain: 'gmail.com',
    flags: { is_free: true },
    manner: tells,
  },
  {
    what: 'a throw-away service',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    domain: 'mailinator.com',
    flags: { is_disposable: true },
    manner: tells,
  },

  // In the middle
  {
    what: 'too many recipients after five',
    asks: { ...many(12, 'no_mailbox'), anna: 'accepted' },
    manner: {
      rcpt: (to, { inConnection }) =>
        inConnection > 5 ? '452 4.5.3 too many recipients' : anna(to),
    },
  },
  {
    what: 'cut after three recipients',
    asks: { ...many(10, 'no_mailbox'), anna: 'accepted' },
    manner: { rcpt: (to, { inConnection }) => (inConnection > 3 ? 'drop' : anna(to)) },
  },
  { what: 'cut at every recipient', asks: { anna: 'failed' }, manner: { rcpt: () => 'drop' } },
  {
    what: 'one address that cuts the connection',
    asks: { anna: 'accepted', bert: 'failed', carl: 'no_mailbox' },
    manner: { rcpt: (to) => (to.startsWith('bert@') ? 'drop' : anna(to)) },
  },
  {
    what: '421 in the middle',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: {
      rcpt: (to, { connection }) =>
        connection === 1 && to.startsWith('anna@') ? '421 4.3.2 closing' : anna(to),
    },
  },

  // Guards
  {
    what: 'a guard that refuses everything after six wrong names of a connection',
    asks: { anna: 'accepted', ...many(12, 'no_mailbox'), carl: 'accepted' },
    manner: guard('550 no'),
  },
  {
    what: 'the same guard, in the words of an unknown user',
    asks: { anna: 'accepted', ...many(12, 'no_mailbox'), carl: 'accepted' },
    manner: guard(noUser),
  },
  {
    what: 'a made-up name that is refused by a policy',
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: {
      rcpt: (to) => (/^[a-z0-9]{20}@/.test(to) ? '550 5.7.1 Administrative prohibition' : anna(to)),
    },
  },
  {
    what: 'everything is full, also what nobody has',
    asks: { anna: 'not_told' },
    manner: { rcpt: () => '552 5.2.2 mailbox full' },
  },
  {
    what: 'every name is put off when it is seen for the first time',
    asks: some,
    manner: putsOffOnce(),
  },
  {
    what: 'six exchangers, of which the last lives',
    asks: some,
    zone: [
      ...[1, 2, 3, 4, 5].flatMap((at) => [`@ MX ${at} m${at}.@`, `m${at}.@ A 127.0.2.24${at}`]),
      '@ MX 9 mx.@',
      'mx.@ A IP',
    ],
    manner: tells,
  },

  // Forms of addresses
  {
    what: 'a local part in another script, taken',
    asks: { jürgen: 'accepted', märta: 'no_mailbox' },
    server: smtpServer(),
  },
  {
    what: 'a local part in another script, and a server without SMTPUTF8',
    asks: { jürgen: 'no_mailbox' },
    manner: tells,
  },
  {
    what: 'quoted local parts, brackets and blanks within',
    asks: { '"anna b"': 'accepted', '"<x>y"': 'accepted', '"a\\"b"': 'no_mailbox' },
    manner: {
      rcpt: (to) => (to.startsWith('"anna b"@') || to.startsWith('"<x>y"@') ? '250 ok' : noUser),
    },
  },
  {
    what: 'an address in capitals, asked for as it stands',
    asks: { Anna: 'accepted' },
    manner: { rcpt: (to) => (to.startsWith('Anna@') ? '250 ok' : noUser) },
  },
  {
    what: 'a tag behind a plus',
    asks: { 'anna+shop': 'accepted' },
    manner: { rcpt: mailboxes('anna+shop') },
  },

  // Hostile
  {
    what: 'a banner without an end',
    asks: { anna: 'failed' },
    manner: { raw: (socket) => flood(socket, 'x'.repeat(65_536)) },
  },
  {
    what: 'a reply of lines without an end',
    asks: { anna: 'failed' },
    manner: { raw: (socket) => flood(socket, `220-${'x'.repeat(60)}\r\n`.repeat(500)) },
  },
  {
    what: 'replies that nobody asked for',
    asks: { anna: 'failed' },
    manner: { raw: (socket) => flood(socket, '220 hello\r\n'.repeat(1000)) },
  },
  {
    what: 'bytes that are not text',
    asks: { anna: 'failed' },
    manner: { raw: (socket) => void socket.write(Buffer.from([0, 1, 2, 0xff, 0xfe, 0x0d, 0x0a])) },
  },
];

/** All of them, each with a domain and an exchanger of its own. */
export const situations: readonly Situation[] = [...structures, ...replySituations];

/** An exchanger whose TLS does not work; in the clear it tells. */
function badTls(answer: string, behind: string): (socket: Socket) => void {
  return (socket) => {
    let isBroken = false;
    socket.write('220 exchanger.lab\r\n');
    let read = '';
    socket.on('data', (bytes: Buffer) => {
      if (isBroken) {
        socket.end(behind);
        return;
      }
      read += bytes.toString('latin1');
      const lines = read.split('\r\n');
      read = lines.pop() ?? '';
      for (const line of lines) {
        const to = /<(.*)>/.exec(line)?.[1] ?? '';
        if (line.startsWith('EHLO')) socket.write('250-exchanger.lab\r\n250 STARTTLS\r\n');
        else if (line === 'STARTTLS') {
          isBroken = true;
          socket.write(`${answer}\r\n`);
        } else if (line.startsWith('RCPT')) socket.write(`${anna(to)}\r\n`);
        else if (line === 'QUIT') socket.end('221 farewell\r\n');
        else socket.write('250 fine\r\n');
      }
    });
  };
}
