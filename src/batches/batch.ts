import type { Lane } from '../addresses/lane.js';

/** A TXT file of unique addresses of one lane, ready for the service. */
export interface Batch {
  /** Number within its run, from 0. */
  readonly id: number;
  readonly lane: Lane;
  /** Number of lines. */
  readonly addresses: number;
  /** Size of the TXT file. */
  readonly sizeBytes: number;
  /** Checksum (CRC-32) of the TXT file: the same rows make the same batches. */
  readonly checksum: number;
  /**
   * The TXT file, from its first byte, as often as asked: UTF-8, one address a line, LF behind each,
   * no header, no byte-order mark.
   */
  open(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}
