import { ConfigurationError } from '../../errors/family.js';
import type { OpenSinkOptions } from '../../rows/sink.js';
import { planTable, type TablePlan, type TableTarget } from '../plan-table.js';
import type { PostgresConnection } from './connect-postgres.js';
import { findTable, qualifyName } from './find-table.js';
import { postgresTypeOf } from './postgres-kinds.js';
import { markersName, readMarker } from './run-marker.js';

export interface PostgresTarget extends TableTarget {
  /** Parts of the table's name, from the left. */
  readonly into: readonly string[];
}

export interface PostgresWriting extends TablePlan {
  /** The table of markers, as SQL takes its name. */
  readonly markers: string;
}

/**
 * Finds out what stands at the target, and what is to be done for the rows to stand there.
 *
 * @throws ConfigurationError where they cannot
 */
export async function planWriting(
  connection: PostgresConnection,
  target: PostgresTarget,
  opening: Pick<OpenSinkOptions, 'reading' | 'added' | 'runId'>,
): Promise<PostgresWriting> {
  const qualified = await qualifyName(connection, target.into);
  if (!qualified) {
    throw new ConfigurationError(`there is no schema for the table ${target.into.join('.')}`);
  }
  const { name, schema } = qualified;
  const markers = markersName(schema);
  const place = {
    dialect: 'postgres',
    store: connection.store,
    name,
    table: await findTable(connection, name),
    marker: await readMarker(connection, markers, name),
    typeOf: postgresTypeOf,
  } as const;
  return { ...planTable(place, target, opening), markers };
}
