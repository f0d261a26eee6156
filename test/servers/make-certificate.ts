import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFolder } from '../service/with-service.js';
import type { ServerCertificate } from './start-postgres.js';

const execute = promisify(execFile);

/** A certificate of an authority that nobody trusts, of the host `localhost` alone. */
export async function makeCertificate(): Promise<ServerCertificate> {
  const folder = await withFolder();
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  const how =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost';
  await execute('openssl', [...how.split(' '), '-keyout', key, '-out', certificate]);
  return { certificate, key };
}
