import type { Readable } from 'node:stream';
import { StateError } from '../../platform/errors/errors.js';

/** What tells the content of an object from any other that it had or will have. */
export interface ContentVersion {
  readonly text: string;
  /** Whether it vouches for every byte, so that a reading may go on in the middle of them. */
  readonly isStrong: boolean;
}

export interface RemoteAnswer {
  readonly version: ContentVersion | undefined;
  /** Place of the first byte, as the server says: 0 where it says nothing. */
  readonly from: number;
  /** Bytes of the whole object, where the server says. */
  readonly size: number | undefined;
  readonly body: Readable;
}

/** Where a part begins, and how large the whole is where the server says; `undefined` for no such range. */
export function parseContentRange(
  text: string | undefined,
): { readonly from: number; readonly size: number | undefined } | undefined {
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? '') ?? [];
  if (from === undefined) return undefined;
  return { from: Number(from), size: size === '*' ? undefined : Number(size) };
}

/** Bytes on a server that can be asked for again. */
export interface RemoteObject {
  /** How messages call it; holds no credentials. */
  readonly name: string;
  /**
   * Asks for the bytes from a place on.
   *
   * @param from more than 0 only with a strong `version`, which the answer then has too
   */
  request(
    wanted: { readonly from: number; readonly version: ContentVersion | undefined },
    signal: AbortSignal,
  ): Promise<RemoteAnswer>;
}

/** Why a server gave nothing this time. */
export class TransientError extends Error {
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** What an object says of itself is not what its first answer said. */
export function changedError(name: string): StateError {
  return new StateError(
    `${name} has changed since this run began to read it: run again, which uses what was paid for with what it holds then`,
    { code: 'state_mismatch' },
  );
}
