import { ConfigurationError } from '../index.js';

/** A database as an argument names it. */
export interface DatabaseUrl {
  readonly kind: 'postgres' | 'mysql' | 'sqlite' | 'duckdb';
  /** May hold a password: it is never printed. */
  readonly url: string;
}

const kinds = new Map<string, DatabaseUrl['kind']>([
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
  ['sqlite', 'sqlite'],
  ['duckdb', 'duckdb'],
]);

/** Where a scheme alone names the database, a path follows; the others need a host. */
const pathKinds: readonly string[] = ['sqlite', 'duckdb'];

/**
 * Tells whether an argument names a database: by its URL, or by the variable of the environment that
 * holds it, so that no password stands on a command line.
 *
 * @returns `undefined` when it is the path of a file
 * @throws ConfigurationError for a URL of anything else
 */
export function findDatabaseUrl(
  argument: string,
  environment: NodeJS.ProcessEnv,
): DatabaseUrl | undefined {
  const url = resolveArgument(argument, environment);
  const [, scheme, hasHost] = /^([a-z][a-z0-9+.-]+):(\/\/)?/i.exec(url) ?? [];
  const kind = kinds.get(scheme?.toLowerCase() ?? '');
  if (kind !== undefined && (hasHost !== undefined || pathKinds.includes(kind))) {
    return { kind, url };
  }
  const isOwn = url === argument;
  if (isOwn && hasHost === undefined) return undefined;
  // What it holds is not said: it may be a password behind a misspelt scheme.
  throw new ConfigurationError(
    `${isOwn ? `a URL that begins with ${scheme ?? ''}:` : `what ${argument} holds`} names no database: postgres://, mysql://, sqlite: and duckdb: do`,
  );
}

/**
 * What an argument stands for: `env:NAME` for what that variable of the environment holds.
 *
 * @throws ConfigurationError
 */
export function resolveArgument(argument: string, environment: NodeJS.ProcessEnv): string {
  const variable = /^env:(.+)$/s.exec(argument)?.[1];
  if (variable === undefined) return argument;
  const value = environment[variable];
  if (value !== undefined && value !== '') return value;
  throw new ConfigurationError(
    `the environment has no variable ${variable}, which ${argument} names`,
  );
}

/** An argument as it may be printed: of a URL only the scheme. */
export function showArgument(argument: string): string {
  return argument.replace(/^([a-z][a-z0-9+.-]*:\/\/).*$/is, '$1…');
}
