import {
  amount,
  clock,
  record,
  required,
  signal,
  text,
  type OptionShape,
} from '../../platform/options/check-options.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { FileSystem } from '../../platform/files/file-system.js';
import type { MaxAgeDays } from './max-age.js';

export interface HistoryOptions {
  /** The history's file; its key is beside it, in `<file>.key`. */
  readonly path: string;
  /**
   * The service that results are of: its base URL, or `local`.
   * @default the one that the history is of; needed to begin one
   */
  readonly service?: string | undefined;
  /**
   * How old a result may be to stand for an address, in days, for all verdicts or by verdict. One number
   * leaves an `unknown` at 20 hours at most.
   * @default 30, and 20 hours for `unknown`
   */
  readonly maxAgeDays?: MaxAgeDays | undefined;
  /**
   * How long to wait while another process uses it, in milliseconds.
   * @default 0
   */
  readonly waitLockMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** The calls on the disk, for tests. @default the system's @internal */
  readonly files?: FileSystem | undefined;
}

export const historyShape: OptionShape<HistoryOptions> = {
  path: required({ ...text, what: 'the path of a file' }),
  service: text,
  maxAgeDays: {
    what: 'a number of days, or one for each verdict',
    isRight: (value) => record.isRight(value) || typeof value === 'number',
  },
  waitLockMs: amount,
  signal,
  clock,
  files: record,
};
