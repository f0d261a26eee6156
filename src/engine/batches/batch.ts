import type { BatchGroup } from '../addresses/batch-group.js';

/** A TXT file of unique addresses of one batch group, ready for the service. */
export interface Batch {
  /** Number within its run, from 0; the parts of a batch share it. */
  readonly id: number;
  readonly group: BatchGroup;
  /** Number of lines. */
  readonly addresses: number;
  /** Size of the TXT file. */
  readonly sizeBytes: number;
  /** Checksum (CRC-32) of the TXT file: the same rows make the same batches. */
  readonly checksum: number;
  /** Which lines these are, of a batch that was too large for the service and is sent in parts. */
  readonly part?: BatchPart | undefined;
  /**
   * The TXT file, from its first byte, as often as asked: UTF-8, one address a line, LF after each,
   * no header, no byte-order mark.
   */
  open(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface BatchPart {
  /** Number of its first line among those of the whole batch, from 0. */
  readonly start: number;
  /** Number of lines of the whole batch. */
  readonly of: number;
}
