import { noUser, type Manner, type Word } from '../smtp/exchanger.js';
import type { Situation } from './situation.js';

/** Replies as servers gave them; what they were collected from is named in the documentation. */
const refusedMailboxes = [
  '550 sorry, no mailbox here by that name (#5.1.1 - chkusr)',
  '550 5.1.1 <ADDRESS>: Recipient address rejected: User unknown in virtual mailbox table',
  '550 5.1.1 <ADDRESS>: Recipient address rejected: User unknown in relay recipient table',
  '550 5.1.1 <ADDRESS>: Recipient address rejected: User unknown in virtual alias table',
  '550 5.1.1 Mailbox does not exist',
  '550 5.1.1 <ADDRESS>... User Unknown',
  '550 Unknown user ADDRESS',
  '550 - Requested action not taken: no such user here',
  '553 Invalid recipient ADDRESS (Mode: normal)',
  '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found',
  '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  '553 5.1.1 unknown or illegal user: ADDRESS',
  '550 5.1.1 <ADDRESS>... Invalid recipient',
  '550 <ADDRESS>... User not exist',
  '550 5.7.1 550 User Unknown: ADDRESS',
  '550 5.2.1 <ADDRESS>... User Unknown',
  '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable',
  '550 Requested action not taken: mailbox unavailable (-0000000022:2222:-0000000022)',
  '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)',
  '550 5.1.6 recipient no longer on server: ADDRESS',
  '550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n550-5.1.1 double-checking the address for typos\r\n550 5.1.1 https://support.google.com/mail/?p=NoSuchUser x1si - gsmtp',
  "554 delivery error: dd This user doesn't have a yahoo.com account (ADDRESS) [0] - mta1.mail.ne1",
  '551 not our user',
  '551 not our customer',
  '550 5.0.0 <ADDRESS>... User unknown',
  '550 5.1.1 Requested action not taken: mailbox unavailable',
  '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
  '550 5.5.0 Adresse destinataire invalide. Invalid recipient. LPN007_416',
  '550 5.1.1 user unknown (UserSearch)',
  '554 5.7.1 <ADDRESS>: Recipient address rejected: User unknown',
  '550 Requested User Mailbox not found. No such user here.',
  "550 'ADDRESS' is not a registered user",
  '550 5.1.1 RCP-P1 https://www.facebook.com/postmaster/response_codes?ip=192.0.2.1#rcp Recipient address does not exist',
  '550 5.7.1 No such user!',
  '550 Unknown local part LOCAL in <ADDRESS>',
  '550-Callout verification failed:\r\n550 550 5.1.1 No such user',
  '550 5.1.1 <ADDRESS>: Recipient address rejected: undeliverable address: host mx[192.0.2.1] said: 550 5.1.1 User unknown',
  '550 cuda_nsu 5.1.1 <ADDRESS> Recipient address rejected: User unknown',
  '550 No such user (ADDRESS)',
  '550 5.2.1 <ADDRESS>... Addressee unknown, relay=[192.0.2.1]',
  '550 Benutzer nicht bekannt/User unknown',
  '550 5.1.1 Utilisateur inconnu',
  '550 Message was not accepted -- invalid mailbox. Local mailbox ADDRESS is unavailable: user not found',
  '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help',
  '552 1 Requested mail action aborted, mailbox not found',
  '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc]',
  '554 Sorry, no mailbox here by that name. (#5.1.1)',
  '550 User LOCAL not listed in Domino Directory',
  '550 5.1.1 <ADDRESS>: Email address could not be found, or was misspelled (G8)',
  '550 No such person at this address',
  '550 E-mail address is not handled by this system',
  '550 5.1.1 recipient is not exist',
  "550 5.7.1 Email doesn't exist",
  '550 Unrouteable address',
  "550 RCPT (ADDRESS) dosn't exist",
  '550 no existe ese usuario',
];

const aboutTheAsker = [
  '550 Administrative prohibition',
  '550 192.0.2.1 is listed at combined.mail.abusix.zone',
  '550 SBRS score too low: http://www.senderbase.org/',
  '550 5.1.0 <probe@sluice-lab.net> sender rejected. AUP#CDRBL',
  "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
  '550 5.0.0 rejected, 192.0.2.1 listed at bl.spamcop.net',
  '521 5.3.2 Service currently unavailable',
  '521-5.7.1 Service unavailable; client [192.0.2.1] blocked using dnsbl.lab\r\n521 5.7.1 Please see http://dnsbl.lab',
  '554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied',
  '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
  '550 5.7.1 Connections not accepted from servers without a valid sender domain. Fix reverse DNS for 192.0.2.1',
  "550 SC-001 Unfortunately, messages from 192.0.2.1 weren't sent. Part of their network is on our block list.",
  '550 Bad SPF records for [sluice-lab.net:192.0.2.1], see http://spf.lab/',
  '550 5.7.606 Access denied, banned sending IP [192.0.2.1].',
  '554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1',
  '550 Denied by policy',
  '550 5.7.0 Local Policy Violation',
  '554 5.7.9 Message not accepted for policy reasons.',
  '550 5.7.26 Unauthenticated email from sluice-lab.net is not accepted due to DMARC policy.',
  '550-Verification failed for <probe@sluice-lab.net>\r\n550-Response: 550 No such user\r\n550 Sender verify failed',
  '550 5.1.1 <ADDRESS> - 192.0.2.1 has sent to too many recipients this hour. IB607',
  '550 Ip frequency limited. http://service.mail.qq.com/cgi-bin/help',
  '550 Mailbox unavailable or access denied',
  '550-Requested action not taken: mailbox unavailable\r\n550 Reject due to policy restrictions.',
  '550 mwinf5c04 ME Adresse IP source bloquee pour incident de spam. OFR006_102',
  '550 5.5.0 Service refuse. Veuillez essayer plus tard. service refused, please try later. LPN001_108',
  '554 Host network not allowed - https://community.mimecast.com/docs/DOC-1369#554 [x]',
  '554 email rejected due to security policies - MCSpamSignature.sa.2.2',
  '550-mail0.lab [192.0.2.1] is not permitted to\r\n550 relay through this server without authentication.',
  '550 5.1.2 ADDRESS... Relaying denied',
  '554 neko.lab : CAT : You have reached your daily relay quota - 192.0.2.1',
  '550 5.1.1 RCP-P2 Refused due to recipient preferences',
  '550 Unauthenticated senders not allowed',
  '550 Protocol violation',
  '550 domain [sluice-lab.net] mismatches client ip 192.0.2.1.',
  '550 5.2.1 Mailbox unavailable. Your IP address 192.0.2.1 is blacklisted using SPAMHAUS-XBL.',
  '550 The sending IP (192.0.2.1) is listed on https://spamrl.com/.',
  "554-Your access to this mail system has been rejected due to the sending MTA's poor reputation.\r\n554 Contact the recipient otherwise.",
  '550 Too many invalid recipients',
  '554 IP=192.0.2.1 - A problem occurred. (Ask your postmaster for help.) (BL)',
];

const full = [
  '550 Mailbox quota exceeded',
  '554 <ADDRESS>: user is over quota',
  '550 5.2.0 Mailbox full',
  '522 5.2.0 Delivery failed: Over quota',
  '552 5.2.2 <ADDRESS> Quota exceeded (mailbox for user is full)',
  '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]',
  "452-4.2.2 The recipient's inbox is out of storage space.\r\n452 4.2.2 https://support.google.com/mail/?p=OverQuotaTemp",
  '550 Benutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.',
  '550 user has too many messages on the server',
  '554 account is full (quota exceeded)',
  '552 Mailbox limit exeeded for this email address',
  '451 4.3.0 mailbox is full',
];

const disabled = [
  '550-5.2.1 The email account that you tried to reach is disabled.\r\n550 5.2.1 https://support.google.com/mail/?p=DisabledUser',
  '554 delivery error: dd Sorry your message to ADDRESS cannot be delivered. This account has been disabled or discontinued [#102].',
  '550 Mailbox is frozen. See http://mail.i.ua/err/3/',
  '525 5.7.13 Disabled recipient address',
  '550 5.1.1 <ADDRESS>: inactive email address',
  '550 5.5.0 Le compte du destinataire est bloque. The recipient account is blocked. LPN007_426',
  '550 <ADDRESS>: Recipient address rejected: Account Closed',
  '554 5.2.1 Inactive user',
];

const words = (text: string): string =>
  text
    .replaceAll(/<?ADDRESS>?|LOCAL/g, '…')
    .replaceAll('\r\n', ' / ')
    .slice(0, 90);

/** One says this to `carl`, takes `anna`, and tells of all others. */
const saysToCarl = (reply: Word): Manner => ({
  rcpt: (to) => {
    if (to.startsWith('anna@')) return '250 2.1.5 ok';
    return to.startsWith('carl@') ? filled(reply, to) : noUser;
  },
});

function filled(reply: Word, to: string): Word {
  return reply.replaceAll('ADDRESS', to).replaceAll('LOCAL', to.split('@')[0] ?? '');
}

export const replySituations: readonly Situation[] = [
  ...refusedMailboxes.map((reply, at): Situation => ({
    what: `told in words (${at}): ${words(reply)}`,
    asks: { anna: 'accepted', bert: 'no_mailbox' },
    manner: { rcpt: (to) => (to.startsWith('anna@') ? '250 ok' : filled(reply, to)) },
  })),
  ...aboutTheAsker.flatMap((reply, at): Situation[] => [
    {
      what: `refuses everybody but postmaster (${at}): ${words(reply)}`,
      asks: { carl: 'not_told' },
      manner: { rcpt: (to) => (to.startsWith('postmaster@') ? '250 ok' : filled(reply, to)) },
    },
    {
      what: `refuses everybody but one who wants no filter (${at}): ${words(reply)}`,
      asks: { anna: 'accepted', carl: 'not_told' },
      manner: { rcpt: (to) => (to.startsWith('anna@') ? '250 ok' : filled(reply, to)) },
    },
  ]),
  ...full.map((reply, at): Situation => ({
    what: `full (${at}): ${words(reply)}`,
    asks: { anna: 'accepted', carl: 'full', bert: 'no_mailbox' },
    manner: saysToCarl(reply),
  })),
  ...disabled.map((reply, at): Situation => ({
    what: `disabled (${at}): ${words(reply)}`,
    asks: { anna: 'accepted', carl: 'disabled', bert: 'no_mailbox' },
    manner: saysToCarl(reply),
  })),
  {
    what: 'a mailbox that gets mail too fast',
    asks: { carl: 'accepted', bert: 'no_mailbox' },
    manner: saysToCarl(
      '550-5.2.1 The user you are trying to contact is receiving mail at a rate that\r\n550 5.2.1 prevents additional messages from being delivered.',
    ),
  },
  {
    what: 'a mailbox that gets mail too fast, for now',
    asks: { carl: 'accepted' },
    manner: saysToCarl(
      '450 4.2.1 The user you are trying to contact is receiving mail too quickly.',
    ),
  },
];
