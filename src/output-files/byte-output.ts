/** Where the bytes of an output go. */
export interface ByteOutput {
  /**
   * Resolves when more may be written; the bytes must not be changed after the call.
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
  /** Drops the output as far as it can be dropped. Never fails, and does nothing after `finish`. */
  abort(): Promise<void>;
}
