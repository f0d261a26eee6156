import { randomBytes } from 'node:crypto';

/** What a table was last written by: it stands in the same transaction as the rows. */
export interface RunMarker {
  readonly run: string;
  /** Of what was written. */
  readonly digest: string;
  /** Rows that are in the table, of all that are to be. */
  readonly applied: number;
  readonly rows: number;
}

/** The table of markers, beside the tables that they are of. */
export const markersTable = 'sluice_runs';

/** The marker of all that a run has written; who runs without an id has none to come back to. */
export function createMarker(runId: string | undefined, digest: string, rows: number): RunMarker {
  return { run: runId ?? randomBytes(8).toString('hex'), digest, applied: rows, rows };
}

/** The marker that a row of the table of markers is: its columns in the order of `RunMarker`. */
export function markerOfRow(row: readonly unknown[] | undefined): RunMarker | undefined {
  if (!row) return undefined;
  const [run, digest, applied, rows] = row;
  return { run: String(run), digest: String(digest), applied: Number(applied), rows: Number(rows) };
}

/** Whether a run has written exactly this before, all or a part of it. */
export function isMarked(
  marker: RunMarker | undefined,
  { run, digest }: Pick<RunMarker, 'run' | 'digest'>,
): marker is RunMarker {
  return marker?.run === run && marker.digest === digest;
}
