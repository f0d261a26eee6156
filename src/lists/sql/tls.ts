import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { systemErrorCode } from '../../platform/files/disk-errors.js';
import type { ServerUrl } from './server-url.js';

/** What a driver is told of an encrypted connection. */
export interface TlsOptions {
  /** Whether the certificate has to be of an authority that is trusted. */
  readonly rejectUnauthorized: boolean;
  /** The authorities. @default those that Node.js trusts */
  readonly ca?: string;
  /** One's own certificate, and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Whether the certificate has to be of this very host. */
  readonly checksHost: boolean;
}

/**
 * Connects as a URL asks for it, which may be in two ways, one after the other.
 *
 * @param connect is given what TLS is to be like; nothing for none
 * @param isOfOtherWay whether an error says that the server wants it the other way
 * @throws ConfigurationError when the certificate of the authority cannot be read
 */
export async function connectWithTls<Client>(
  { socket, tls: { mode, ...files } }: ServerUrl,
  connect: (tls: TlsOptions | undefined) => Promise<Client>,
  isOfOtherWay: (error: unknown) => boolean,
): Promise<Client> {
  // On a socket nobody is between.
  if (socket !== undefined || mode === 'disable') return connect(undefined);
  const [cert, key] = await Promise.all([
    readPem(files.certificate, 'sslcert'),
    readPem(files.key, 'sslkey'),
  ]);
  const own = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  const unverified: TlsOptions = { ...own, rejectUnauthorized: false, checksHost: false };
  if (mode === 'allow' || mode === 'prefer') {
    const [first, second] = mode === 'allow' ? [undefined, unverified] : [unverified, undefined];
    return connect(first).catch((error: unknown) => {
      if (isOfOtherWay(error)) return connect(second);
      throw error;
    });
  }
  const { rootCertificate } = files;
  if (mode === 'require' && rootCertificate === undefined) return connect(unverified);
  // libpq's word for the authorities that are trusted anyway.
  const isKnown = rootCertificate === 'system';
  const ca = isKnown ? undefined : await readPem(rootCertificate, 'sslrootcert');
  return connect({
    ...own,
    rejectUnauthorized: true,
    checksHost: mode === 'verify-full',
    ...(ca !== undefined && { ca }),
  });
}

async function readPem(path: string | undefined, parameter: string): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`the file ${path} (${parameter}) cannot be read`, { cause });
  }
}

/** What an error says of a certificate, or of encryption; `undefined` for any other. */
export function tlsWords(error: unknown): string | undefined {
  const code = systemErrorCode(error) ?? '';
  const message = error instanceof Error ? error.message : '';
  if (/ALTNAME|altnames/.test(code + message)) {
    return 'its certificate is of another host: connect by the name that is in it, or with sslmode=verify-ca';
  }
  if (/CERT|SIGNATURE|certificate/.test(code + message)) {
    return 'its certificate is not trusted: name the file of its authority with sslrootcert, or connect with sslmode=require';
  }
  if (isWithoutTls(error)) {
    return 'it takes no encrypted connections, which sslmode asks for';
  }
  return undefined;
}

/** Whether an error says that a server has no TLS. */
export function isWithoutTls(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return /does not support (?:SSL|secure) connection/i.test(message);
}
