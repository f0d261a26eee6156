/** How far one of the processes of a run is with its rows. */
interface OwnRows {
  /** Each process reads the list by itself. */
  readonly rowsRead: number;
  /** Of the output; 0 in a process that does not write it. */
  readonly rowsWritten: number;
}

/** What one of the processes of a run has done. */
export interface WorkerFigures extends OwnRows {
  /** Batches that it brought to their end. */
  readonly batchesDone: number;
  /** Addresses of these batches. */
  readonly addressesDone: number;
}

/** The rows of a run that many processes work on: what this one has to tell of them. */
export interface RowFigures {
  readonly own: OwnRows;
  /** Takes in how many rows another process has written. */
  hear(rowsWritten: number): void;
}

export const noRows: OwnRows = { rowsRead: 0, rowsWritten: 0 };
