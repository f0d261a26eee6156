import { ConfigurationError } from '../../platform/errors/errors.js';

/** How a connection is encrypted, in libpq's words. */
export type TlsMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** With the words that MySQL has for the same. */
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

/** @throws ConfigurationError */
function parseTlsMode(text: string | undefined): TlsMode {
  const mode = modes.get((text ?? 'prefer').toLowerCase());
  if (mode !== undefined) return mode;
  throw new ConfigurationError(
    "sslmode in the database's URL is disable, allow, prefer, require, verify-ca or verify-full",
  );
}

/** Where a server is, and how it is spoken to. */
export interface ServerUrl {
  /** The URL without what the driver would take for something else. */
  readonly driverUrl: string;
  /** How messages call the database: without its password, and its parameters, which may hold one. */
  readonly name: string;
  /** The same without a user. */
  readonly store: string;
  /** The socket, or the folder that it is in, where no network is between. */
  readonly socket: string | undefined;
  readonly tls: {
    readonly mode: TlsMode;
    /** Files: the certificate of the authority, one's own, and its key. */
    readonly rootCertificate: string | undefined;
    readonly certificate: string | undefined;
    readonly key: string | undefined;
  };
}

/** Parameters that are not the driver's, by the names that the databases' own programs have for them. */
const ownParameters =
  'sslmode sslrootcert sslcert sslkey host ssl-mode ssl-ca ssl-cert ssl-key socket'.split(' ');

/**
 * Takes the URL of a server apart. What is wrong with it is never quoted.
 *
 * @throws ConfigurationError
 */
export function parseServerUrl(text: string, schemes: readonly string[]): ServerUrl {
  const url = readUrl(text);
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || scheme === undefined || !schemes.includes(scheme)) {
    throw new ConfigurationError(
      `the database's URL cannot be read: it has the form ${schemes[0] ?? ''}://user:password@host:port/database, with what is special in the password percent-encoded`,
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
  for (const name of ownParameters) url.searchParams.delete(name);
  // A host that is a path stands in the URL percent-encoded.
  if (isSocket || host !== decodeURIComponent(url.hostname)) {
    url.hostname = isSocket ? noHost : host;
  }
  const shown = isSocket ? encodeURIComponent(host) : url.host;
  const user = url.username === '' ? '' : `${url.username}@`;
  return {
    driverUrl: url.href,
    name: `${scheme}://${user}${shown}${url.pathname}`,
    store: `${schemes[0] ?? scheme}://${shown}${url.pathname}`,
    socket: isSocket ? host : undefined,
    tls,
  };
}

/** Stands for the host where there is none. */
const noHost = 'localhost';

/** A URL may name a user and no host. */
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
