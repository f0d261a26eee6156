import { judgeSession } from './reply-rules.js';
import type { MailProvider } from './providers.js';
import { type Reply, SmtpFailure } from './reply-reader.js';
import { SmtpConnection } from './smtp-connection.js';

/** How this machine identifies itself to exchangers. */
export interface SmtpIdentity {
  /** Name for EHLO and HELO: this machine's own in reverse DNS. */
  readonly heloName: string;
  /** Address for MAIL FROM; empty for the null reverse-path. */
  readonly mailFrom: string;
  readonly startTls: boolean;
  readonly port: number;
  /** Longest time of connecting, and of each reply. */
  readonly replyTimeoutMs: number;
}

export interface Target {
  readonly host: string;
  readonly address: string;
  readonly provider?: MailProvider | undefined;
}

/** A server that greeted, with its extensions. */
export interface Session {
  readonly connection: SmtpConnection;
  readonly pipelines: boolean;
  readonly takesUtf8: boolean;
  readonly provider?: MailProvider | undefined;
}

/** Why a server is of no use now. */
export type NoSession = 'temporary' | 'not_told' | 'no_mailbox' | 'failed';

interface RefusedSession {
  readonly why: NoSession;
  /** Whether its neighbours would do the same: it refuses the client. */
  readonly isFinal: boolean;
}

/**
 * Connects and greets: EHLO, or HELO for old servers; STARTTLS where offered. Where TLS fails it retries
 * without: encryption is opportunistic, and nothing secret is sent.
 */
export async function openSession(
  target: Target,
  identity: SmtpIdentity,
  signal: AbortSignal,
): Promise<Session | RefusedSession> {
  const first = await greet(target, identity, { secure: identity.startTls, signal });
  if (first !== 'tls_failed') return first;
  const second = await greet(target, identity, { secure: false, signal });
  return second === 'tls_failed' ? failed : second;
}

async function greet(
  target: Target,
  identity: SmtpIdentity,
  { secure, signal }: { readonly secure: boolean; readonly signal: AbortSignal },
): Promise<Session | RefusedSession | 'tls_failed'> {
  let connection: SmtpConnection | undefined;
  try {
    connection = await SmtpConnection.open({
      address: target.address,
      port: identity.port,
      timeoutMs: identity.replyTimeoutMs,
      via: target.provider?.via,
      signal,
    });
    const greeting = judgeSession(await connection.reply());
    // A server that greets with 554 may have willing neighbours: Postfix continues with them, too.
    if (greeting !== 'ready') return await leave(connection, greeting, false);
    let extensions = await hello(connection, identity);
    if (typeof extensions === 'string') return await leave(connection, extensions, true);
    if (secure && extensions.has('STARTTLS')) {
      connection.send('STARTTLS');
      const { code } = await connection.reply();
      if (code === 220) {
        await connection.secure(target.host);
        // What was learned in the clear is discarded (RFC 3207 4.2).
        extensions = await hello(connection, identity);
        if (typeof extensions === 'string') return await leave(connection, extensions, true);
      }
    }
    return {
      connection,
      pipelines: extensions.has('PIPELINING'),
      takesUtf8: extensions.has('SMTPUTF8'),
      provider: target.provider,
    };
  } catch (error) {
    connection?.close();
    if (!(error instanceof SmtpFailure)) throw error;
    return error.kind === 'tls' ? 'tls_failed' : failed;
  }
}

const failed: RefusedSession = { why: 'failed', isFinal: false };

async function leave(
  connection: SmtpConnection,
  why: NoSession,
  knowsAsker: boolean,
): Promise<RefusedSession> {
  await connection.quit();
  return { why, isFinal: knowsAsker && why === 'not_told' };
}

/** @returns the keywords of the extensions, or why the session ends */
async function hello(
  connection: SmtpConnection,
  { heloName }: SmtpIdentity,
): Promise<ReadonlySet<string> | NoSession> {
  connection.send(`EHLO ${heloName}`);
  const reply = await connection.reply();
  const judged = judgeSession(reply);
  if (judged === 'ready') return keywordsOf(reply);
  // RFC 5321 3.2: HELO for servers without EHLO.
  if (reply.code < 500 || reply.code > 504) return judged;
  connection.send(`HELO ${heloName}`);
  const plain = judgeSession(await connection.reply());
  return plain === 'ready' ? new Set() : plain;
}

function keywordsOf({ lines }: Reply): ReadonlySet<string> {
  return new Set(lines.slice(1).map((line) => line.split(' ', 1)[0]?.toUpperCase() ?? ''));
}
