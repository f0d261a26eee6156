import type { RandomFile } from '../../../platform/files/random-file.js';

/** Where the bytes of an output go. */
export interface ByteOutput {
  /**
   * Whether bytes are their owner's again once the write of them has resolved.
   * @default they must not be changed after the call
   */
  readonly givesBack?: boolean;
  /**
   * Resolves when more may be written.
   *
   * @throws OutputError
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Makes the output stand: whole, and on disk where it is a file.
   *
   * @throws OutputError
   */
  finish(): Promise<void>;
  /**
   * Opens what was written so far, while it does not stand yet. Absent where it cannot be read.
   *
   * @throws InputError `input_unreadable`
   */
  readBack?: (() => Promise<RandomFile>) | undefined;
  /** Drops the output as far as it can be dropped. Never fails, and does nothing after `finish`. */
  abort(): Promise<void>;
}
