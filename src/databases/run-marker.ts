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

/** Whether a run has written exactly this before, all or a part of it. */
export function isMarked(
  marker: RunMarker | undefined,
  { run, digest }: Pick<RunMarker, 'run' | 'digest'>,
): marker is RunMarker {
  return marker?.run === run && marker.digest === digest;
}
