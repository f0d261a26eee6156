import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { describeSystemError, systemErrorCode } from '../../platform/text/system-errors.js';
import { exists } from '../../platform/files/file-system.js';
import { isLoopbackHost } from '../../client/client-options.js';
import type { Purpose } from './dialect.js';

/** How a connection is encrypted, in libpq's terms. */
type TlsMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** Including MySQL's terms for the same. */
const modes = new Map<string, TlsMode>([
  ['disable', 'disable'],
  ['disabled', 'disable'],
  ['allow', 'allow'],
  ['prefer', 'prefer'],
  ['preferred', 'prefer'],
  ['require', 'require'],
  ['required', 'require'],
  ['verify-ca', 'verify-ca'],
  ['verify_ca', 'verify-ca'],
  ['verify-full', 'verify-full'],
  ['verify_identity', 'verify-full'],
]);

function parseTlsMode(text: string | undefined): TlsMode {
  const mode = modes.get((text ?? 'prefer').toLowerCase());
  if (mode !== undefined) return mode;
  throw new ConfigurationError(
    "sslmode in the database's URL is disable, allow, prefer, require, verify-ca or verify-full",
    { option: 'sslmode' },
  );
}

export interface ServerUrl {
  /** The URL without parameters that the driver would misread. */
  readonly driverUrl: string;
  /** The database's name in messages: without its password and parameters, which may contain one. */
  readonly name: string;
  /** The socket, or its folder, for a local connection. */
  readonly socket: string | undefined;
  readonly tls: {
    readonly mode: TlsMode;
    /** Files: the authority's certificate, the client's, and its key. */
    readonly rootCertificate: string | undefined;
    readonly certificate: string | undefined;
    readonly key: string | undefined;
  };
}

/** Parameters that the driver lacks, by the names of the databases' own programs. */
const sluiceParameters =
  'sslmode sslrootcert sslcert sslkey host ssl-mode ssl-ca ssl-cert ssl-key socket'.split(' ');

/** Parses the URL of a server. A wrong part is never quoted. */
export function parseServerUrl(text: string, schemes: readonly string[]): ServerUrl {
  const url = readUrl(text);
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || scheme === undefined || !schemes.includes(scheme)) {
    throw new ConfigurationError(
      `the database's URL cannot be read: it has the form ${schemes[0] ?? ''}://user:password@host:port/database, with what is special in the password percent-encoded`,
      { fault: 'other_format' },
    );
  }
  const parameter = (...names: readonly string[]): string | undefined =>
    names.map((name) => url.searchParams.get(name)).find((value) => value !== null) ?? undefined;
  const host = parameter('host', 'socket') ?? decodeURIComponent(url.hostname);
  const isSocket = host.startsWith('/');
  const tls = {
    mode: parseTlsMode(parameter('sslmode', 'ssl-mode')),
    rootCertificate: parameter('sslrootcert', 'ssl-ca'),
    certificate: parameter('sslcert', 'ssl-cert'),
    key: parameter('sslkey', 'ssl-key'),
  };
  for (const name of sluiceParameters) url.searchParams.delete(name);
  // A host that is a path is percent-encoded in the URL.
  if (isSocket || host !== decodeURIComponent(url.hostname)) {
    url.hostname = isSocket ? noHost : host;
  }
  const shown = isSocket ? encodeURIComponent(host) : url.host;
  const user = url.username === '' ? '' : `${url.username}@`;
  return {
    driverUrl: url.href,
    name: `${scheme}://${user}${shown}${url.pathname}`,
    socket: isSocket ? host : undefined,
    tls,
  };
}

const noHost = 'localhost';

/** A server's database, however this machine is named. */
export function storeOf(
  dialect: string,
  { host, port, database = '' }: { host: string; port: number; database?: string | undefined },
): string {
  const name = isLoopbackHost(host) ? noHost : host.toLowerCase();
  return `${dialect}://${name}:${port}/${database}`;
}

function readUrl(text: string): URL | undefined {
  const from = text.indexOf('://') + 3;
  const length = text.slice(from).search(/[/?#]/);
  const end = length === -1 ? text.length : from + length;
  const isWithoutHost = text[end - 1] === '@';
  const [url] = [text, isWithoutHost ? text.slice(0, end) + noHost + text.slice(end) : text]
    .filter((each) => URL.canParse(each))
    .map((each) => new URL(each));
  if (url?.hostname === '') url.hostname = noHost;
  return url;
}

export const inMemory = ':memory:';

export function pathOfUrl(url: string, scheme: string): string {
  const path = url.startsWith(`${scheme}:`) ? url.slice(scheme.length + 1) : url;
  if (path !== '') return path;
  throw new ConfigurationError(`name the file of the database: ${scheme}:path`, {
    fault: 'missing',
  });
}

export function nameOfFile(url: string, scheme: string, purpose: Purpose): string {
  const path = pathOfUrl(url, scheme);
  if (purpose === 'read' || path !== inMemory) return `${scheme}:${path}`;
  throw new ConfigurationError(
    `a database in memory is gone with the process: name a file for the output, ${scheme}:path`,
    { fault: 'unsupported' },
  );
}

export function fileOfUrl(url: string, scheme: string): string | undefined {
  const path = pathOfUrl(url, scheme);
  return path === inMemory ? undefined : path;
}

/** Resolves a file database, and whether opening it creates the file. Errors are the system's. */
export async function placeOfFile(
  path: string,
  purpose: Purpose,
): Promise<{ readonly store: string; readonly isNew: boolean }> {
  if (path === inMemory) return { store: inMemory, isNew: false };
  if (purpose === 'read') await stat(path);
  const isNew = !(await exists(path));
  // A path, never a server's address; the same by way of a link.
  const store = isNew ? resolve(path) : await realpath(path);
  if (!isNew || purpose === 'write') return { store, isNew };
  await access(dirname(store), constants.W_OK);
  return { store: inMemory, isNew: false };
}

export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  /** The authorities. @default those of Node.js */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly checksHost: boolean;
}

/**
 * Connects in the URL's mode, which may allow two ways, one after the other.
 *
 * @param connect called with the TLS options; none for no encryption
 *
 * @param isOfOtherWay whether an error means that the server wants the other way
 */
export async function connectWithTls<Client>(
  { socket, tls: { mode, ...files } }: ServerUrl,
  connect: (tls: TlsOptions | undefined) => Promise<Client>,
  isOfOtherWay: (error: unknown) => boolean,
): Promise<Client> {
  // A socket is local.
  if (socket !== undefined || mode === 'disable') return connect(undefined);
  const [cert, key] = await Promise.all([
    readPem(files.certificate, 'sslcert'),
    readPem(files.key, 'sslkey'),
  ]);
  const pair = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  const unverified: TlsOptions = { ...pair, rejectUnauthorized: false, checksHost: false };
  if (mode === 'allow' || mode === 'prefer') {
    const [first, second] = mode === 'allow' ? [undefined, unverified] : [unverified, undefined];
    return connect(first).catch((error: unknown) => {
      if (isOfOtherWay(error)) return connect(second);
      throw error;
    });
  }
  const { rootCertificate } = files;
  if (mode === 'require' && rootCertificate === undefined) return connect(unverified);
  // libpq's word for the default authorities.
  const isKnown = rootCertificate === 'system';
  const ca = isKnown ? undefined : await readPem(rootCertificate, 'sslrootcert');
  return connect({
    ...pair,
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
    const why = describeSystemError(cause);
    throw new ConfigurationError(`cannot read ${path} (${parameter}): ${why}`, {
      file: path,
      cause,
    });
  }
}

/** What an error says about a certificate or encryption; `undefined` for any other. */
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

export function isWithoutTls(error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return /does not support (?:SSL|secure) connection/i.test(message);
}
