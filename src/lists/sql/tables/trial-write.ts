import {
  applyStatements,
  askAll,
  define,
  refuseRepeatedKeys,
  writeMarkers,
  type TableWriting,
} from './apply-staged.js';
import { type Connection, untilUnlocked } from '../connection.js';
import { createMarker, findMarkers, writeMarker } from './run-marker.js';

/**
 * Does with a few staged rows all that a writing does, under the real constraints, and takes it back.
 *
 * @param rowsAtOnce the staged rows are the same ones again after so many, with other results
 */
export async function rehearse<Database extends Connection>(
  writing: TableWriting<Database>,
  rowsAtOnce: number,
): Promise<void> {
  const { dialect, connection, staging, runId, waiting } = writing;
  const { statements, putInPlace, tryDefinitions } = dialect;
  const marker = createMarker(runId, await staging.end());
  if (staging.isInPlace === true) {
    await writeMarkers(writing, marker);
    await connection.query('ROLLBACK');
    return;
  }
  await staging.prepare?.(false);
  if (putInPlace?.modes.includes(writing.plan.mode) === true) {
    return putInPlace.run(connection, writing.plan, marker, true);
  }
  const hasMarkers = (await findMarkers(dialect, connection, writing.plan.name)) !== undefined;
  const plan = (await tryDefinitions?.(connection, writing.plan, hasMarkers)) ?? writing.plan;
  for (let after = 0; after === 0 || after < marker.rows; after += rowsAtOnce) {
    const range = { after, upTo: after + rowsAtOnce };
    if (after === 0) await refuseRepeatedKeys(writing, range);
    await untilUnlocked(waiting, connection, async () => {
      await askAll(connection, statements.begin);
      if (!tryDefinitions) await define(writing);
      await applyStatements({ ...writing, plan }, range);
      if (statements.checkDeferred !== undefined) await connection.query(statements.checkDeferred);
      if (hasMarkers || !tryDefinitions) {
        await writeMarker(dialect, connection, plan.name, marker);
      }
      await connection.query('ROLLBACK');
    });
    if (rowsAtOnce === 0) return;
  }
}
