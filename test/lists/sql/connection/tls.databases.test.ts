import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mysqlSource } from '../../../../src/lists/sql/mysql/index.js';
import { postgresSource } from '../../../../src/lists/sql/postgres/index.js';
import { makeCertificate } from '../../../servers/make-certificate.js';
import { startMariadb } from '../../../servers/start-mariadb.js';
import { startPostgres, type DatabaseServer } from '../../../servers/start-postgres.js';
import { readAll } from '../harness/carry.js';
import { rejection } from '../harness/rejection.js';
import { withFolder } from '../../../service/with-service.js';

interface Kind {
  readonly name: string;
  /** A server that takes encrypted connections, if it is given a certificate. */
  start(certificate?: {
    readonly certificate: string;
    readonly key: string;
  }): Promise<DatabaseServer & { readonly socket: string }>;
  /** Whether a connection to a URL is encrypted. */
  isEncrypted(url: string): Promise<boolean>;
}

const kinds: readonly Kind[] = [
  {
    name: 'PostgreSQL',
    start: startPostgres,
    async isEncrypted(url) {
      const query = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      return (await readAll(postgresSource({ url, query })))[0]?.[0] === true;
    },
  },
  {
    name: 'MariaDB',
    start: startMariadb,
    async isEncrypted(url) {
      const query =
        "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'SSL_CIPHER'";
      return (await readAll(mysqlSource({ url, query })))[0]?.[0] !== '';
    },
  },
];

function urlWith(url: string, host: string, parameters: Readonly<Record<string, string>>): string {
  const other = new URL(url);
  other.hostname = host;
  for (const [name, value] of Object.entries(parameters)) other.searchParams.set(name, value);
  return other.href;
}

for (const { name, start, isEncrypted } of kinds) {
  describe(`a connection to ${name}`, () => {
    test('is encrypted, and its certificate checked, as sslmode says', async () => {
      const pair = await makeCertificate();
      const server = await start(pair);
      onTestFinished(() => server.stop());
      const at = (host: string, parameters: Readonly<Record<string, string>>) =>
        isEncrypted(urlWith(server.url, host, parameters));
      const sslrootcert = pair.certificate;
      expect(await at('127.0.0.1', {})).toBe(true);
      expect(await at('127.0.0.1', { sslmode: 'prefer' })).toBe(true);
      expect(await at('127.0.0.1', { sslmode: 'disable' })).toBe(false);
      expect(await at('127.0.0.1', { sslmode: 'allow' })).toBe(false);
      // Nobody trusts the certificate, and nobody asked for that.
      expect(await at('127.0.0.1', { sslmode: 'require' })).toBe(true);
      expect(await at('localhost', { sslmode: 'verify-ca', sslrootcert })).toBe(true);
      expect(await at('127.0.0.1', { sslmode: 'verify-ca', sslrootcert })).toBe(true);
      expect(await at('localhost', { sslmode: 'verify-full', sslrootcert })).toBe(true);
      const untrusted = await rejection(at('localhost', { sslmode: 'verify-full' }));
      expect(untrusted.message).toContain('its certificate is not trusted: name the file');
      const other = await makeCertificate();
      const wrong = { sslmode: 'require', sslrootcert: other.certificate };
      expect((await rejection(at('localhost', wrong))).message).toContain('is not trusted');
      const missing = { sslmode: 'verify-ca', sslrootcert: '/nowhere/ca.pem' };
      const unread = await rejection(at('localhost', missing));
      expect(unread).toMatchObject({ code: 'invalid_option' });
      expect(unread.message).toContain('/nowhere/ca.pem (sslrootcert)');
    });

    test('is made through a socket, and is not encrypted where the server has no certificate', async () => {
      const server = await start();
      onTestFinished(() => server.stop());
      expect(await isEncrypted(urlWith(server.url, '127.0.0.1', {}))).toBe(false);
      for (const sslmode of ['require', 'verify-full']) {
        const refused = await rejection(isEncrypted(urlWith(server.url, '127.0.0.1', { sslmode })));
        expect(refused.message).toContain('takes no encrypted connections');
      }
      const { username, password, pathname, port, protocol } = new URL(server.url);
      const user = `${protocol}//${username}:${password}`;
      // A socket's path is short, and its URL may hold what is special.
      const folder = await withFolder();
      const socket = join(folder, 's');
      await symlink(server.socket, socket);
      const host = encodeURIComponent(socket);
      expect(await isEncrypted(`${user}@localhost:${port}${pathname}?host=${host}`)).toBe(false);
      expect(await isEncrypted(`${user}@${host}:${port}${pathname}?sslmode=require`)).toBe(false);
    });
  });
}
