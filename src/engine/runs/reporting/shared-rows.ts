import type { RunProgress } from './run-progress.js';
import { noRows, type RowFigures } from '../../stores/shared/worker-figures.js';

/** How far this process is with the rows of a shared run, and the one that writes them. */
export class SharedRows implements RowFigures {
  readonly #onProgress: (progress: RunProgress) => void;
  #own = noRows;
  #heard = 0;

  /** @param onProgress told of what this process does, and of the rows that another writes */
  constructor(onProgress: (progress: RunProgress) => void) {
    this.#onProgress = onProgress;
  }

  get own(): RowFigures['own'] {
    return this.#own;
  }

  /** Takes in what this process does. */
  readonly note = (progress: RunProgress): void => {
    const { stage } = progress;
    if (stage === 'reading' || stage === 'read') {
      this.#own = { ...this.#own, rowsRead: progress.rows };
    } else if (stage === 'writing' || stage === 'written') {
      this.#own = { ...this.#own, rowsWritten: progress.rows };
    }
    this.#onProgress(progress);
  };

  hear(rowsWritten: number): void {
    if (rowsWritten === this.#heard || this.#own.rowsWritten > 0) return;
    this.#heard = rowsWritten;
    this.#onProgress({ stage: 'writing', rows: rowsWritten });
  }
}
