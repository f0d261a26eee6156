import type * as copyStreams from 'pg-copy-streams';
import { loadDriver } from '../load-driver.js';
import { postgresDrivers } from './connect-postgres.js';

/** @throws ConfigurationError `missing_dependency` */
export async function loadCopyStreams(): Promise<typeof copyStreams> {
  return loadDriver(() => import('pg-copy-streams'), postgresDrivers);
}
