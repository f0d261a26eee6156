import { createHash } from 'node:crypto';
import { backoffMs } from '../../client/rate/rate-limiter.js';
import { InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { type ByteInput, createStreamReader, type ByteReader } from '../files/bytes/byte-reader.js';
import type { OptionShape } from '../../platform/check-options.js';
import { clock, count } from '../../platform/option-kinds.js';
import { systemClock, type Clock } from '../../platform/waiting/clock.js';
import { notice, type OnNotice } from '../../platform/text/notices.js';
import type { Readable } from 'node:stream';

export interface ContentVersion {
  readonly text: string;
  /** Whether it covers every byte, so that a reading may continue in the middle. */
  readonly isStrong: boolean;
}

export interface RemoteAnswer {
  readonly version: ContentVersion | undefined;
  /** Position of the first byte by the server; 0 where it is not given. */
  readonly from: number;
  readonly size: number | undefined;
  readonly body: Readable;
}

/** Start of a part, and the size of the whole if given; `undefined` for an invalid range. */
export function parseContentRange(
  text: string | undefined,
): { readonly from: number; readonly size: number | undefined } | undefined {
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? '') ?? [];
  if (from === undefined) return undefined;
  return { from: Number(from), size: size === '*' ? undefined : Number(size) };
}

export interface RemoteObject {
  /** Its name in messages, without credentials. */
  readonly name: string;
  /** Requests the bytes from a position on. @param from above 0 only with a strong `version`, which the answer must have */
  request(
    wanted: { readonly from: number; readonly version: ContentVersion | undefined },
    signal: AbortSignal,
  ): Promise<RemoteAnswer>;
}

/** Why a server gave nothing this time. */
export class TransientError extends Error {
  /** The wait that the server asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;

  constructor(
    message: string,
    options: {
      readonly retryAfterMs?: number | undefined;
      readonly status?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}

export function changedError(name: string): InputError {
  return new InputError(
    `${name} has changed since this run began to read it: run again, which uses what was paid for with what it holds then`,
    { code: 'input_changed' },
  );
}

export interface RemoteOptions {
  /** Most bytes of an object, against one that never ends. @default 1 TiB */
  readonly maxBytes?: number | undefined;
  /** Failures in a row without a byte between them after which the run stops. @default 6 */
  readonly mostFailures?: number | undefined;
  readonly clock?: Clock | undefined;
}

export const remoteShape: OptionShape<RemoteOptions> = {
  maxBytes: count,
  mostFailures: count,
  clock,
};

const defaultMaxBytes = 2 ** 40;
const defaultMostFailures = 6;
/** A wait that is longer is reported. */
const longestSilenceMs = 4000;
const waits = { firstMs: 500, longestMs: 30_000 };

/**
 * The bytes of a remote object, repeatable. A broken connection is resumed at the byte where it broke. Every
 * reading gets the content of the first, or fails.
 */
export function remoteInput(object: RemoteObject, options: RemoteOptions = {}): ByteInput {
  const pin: Pin = { version: undefined, size: undefined, isSet: false };
  return {
    name: object.name,
    isRepeatable: true,
    async openReader(signal, onNotice) {
      const reader = new RemoteReader(object, pin, { ...options, onNotice }, signal);
      await reader.begin();
      return reader;
    },
  };
}

/** The content identified by the first answer. */
interface Pin {
  version: ContentVersion | undefined;
  /** Of the whole object, once an answer gives it. */
  size: number | undefined;
  isSet: boolean;
}

class RemoteReader implements ByteReader {
  readonly #object: RemoteObject;
  readonly #pin: Pin;
  readonly #options: RemoteOptions & { readonly onNotice?: OnNotice | undefined };
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  /** Of the bytes so far: a repeated reading must match. */
  readonly #hash = createHash('sha256');
  #at = 0;
  #failures = 0;
  /** When a byte has come, or it was opened. */
  #movedAt: number;
  #body: ByteReader | undefined;

  constructor(
    object: RemoteObject,
    pin: Pin,
    options: RemoteOptions & { readonly onNotice?: OnNotice | undefined },
    signal: AbortSignal | undefined,
  ) {
    this.#object = object;
    this.#pin = pin;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#movedAt = this.#clock.now();
    this.#signal = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
  }

  /** Gets the first answer, so that errors of the object show when it is opened. */
  async begin(): Promise<void> {
    await this.#trying(async () => this.#connect());
  }

  async read(): Promise<Uint8Array | undefined> {
    return this.#trying(async () => {
      if (!this.#body) await this.#connect();
      const piece = await this.#body?.read();
      if (piece === undefined) {
        const { size } = this.#pin;
        if (size === undefined || this.#at >= size) return undefined;
        throw new TransientError('the connection ended early');
      }
      this.#take(piece);
      this.#failures = 0;
      this.#movedAt = this.#clock.now();
      return piece;
    });
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('it was closed'));
    await this.#drop();
  }

  async #trying<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      this.#signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        await this.#drop();
        this.#signal.throwIfAborted();
        await this.#wait(error);
      }
    }
  }

  async #wait(error: unknown): Promise<void> {
    const trouble = passing(error);
    if (!trouble) throw error;
    this.#failures += 1;
    const { mostFailures = defaultMostFailures, onNotice } = this.#options;
    if (this.#failures >= mostFailures) {
      throw new InputError(
        `cannot read ${this.#object.name}: ${trouble.message} (${this.#failures} attempts)`,
        { code: 'input_unreadable', status: trouble.status, cause: trouble.cause },
      );
    }
    const { name: input } = this.#object;
    const wait = backoffMs(this.#failures, waits, Math.random);
    const waitMs = Math.max(wait, trouble.retryAfterMs ?? 0);
    if (this.#clock.now() + waitMs - this.#movedAt >= longestSilenceMs) {
      const [attempt, attempts] = [this.#failures + 1, mostFailures];
      onNotice?.(notice('input_waiting', { input, why: trouble.message, attempt, attempts }));
    }
    await this.#clock.sleep(waitMs, this.#signal);
  }

  async #connect(): Promise<void> {
    const { version } = this.#pin;
    const from = version?.isStrong === true ? this.#at : 0;
    let answer = await this.#object.request({ from, version }, this.#signal);
    if (answer.from !== from && from > 0) {
      // A server without ranges, or one whose 200 has only the slice: only an answer to a request for
      // everything is sure to be complete.
      answer.body.destroy();
      answer = await this.#object.request({ from: 0, version }, this.#signal);
    }
    this.#body = createStreamReader(this.#object.name, answer.body, this.#signal);
    this.#check(answer);
    if (answer.from < this.#at) await this.#skipTo(this.#at, answer.from);
  }

  #check({ version, from, size }: RemoteAnswer): void {
    const pin = this.#pin;
    if (!pin.isSet) Object.assign(pin, { version, isSet: true });
    if (pin.version?.text !== version?.text) throw changedError(this.#object.name);
    pin.size ??= size;
    if (size !== undefined && size !== pin.size) throw changedError(this.#object.name);
    if (from > this.#at) throw new TransientError('the server gave other bytes than asked for');
  }

  /** Skips what was read before the connection broke, and compares it. */
  async #skipTo(place: number, from: number): Promise<void> {
    const hash = createHash('sha256');
    let at = from;
    let rest: Uint8Array | undefined;
    while (at < place) {
      const piece = await this.#body?.read();
      if (piece === undefined) throw changedError(this.#object.name);
      const known = piece.subarray(0, place - at);
      hash.update(known);
      at += known.length;
      if (known.length < piece.length) rest = Buffer.from(piece.subarray(known.length));
    }
    if (hash.digest('hex') !== this.#hash.copy().digest('hex'))
      throw changedError(this.#object.name);
    if (rest) this.#body = readFirst(rest, this.#body);
  }

  #take(piece: Uint8Array): void {
    this.#at += piece.length;
    this.#hash.update(piece);
    const { maxBytes = defaultMaxBytes } = this.#options;
    if (this.#at <= maxBytes) return;
    throw new InputError(`${this.#object.name} has more than ${maxBytes} bytes`, {
      code: 'input_unreadable',
      fault: 'too_large',
    });
  }

  async #drop(): Promise<void> {
    const body = this.#body;
    this.#body = undefined;
    await body?.close();
  }
}

/** A stream's connection error may pass; our own errors do not. */
function passing(error: unknown): TransientError | undefined {
  if (error instanceof TransientError) return error;
  // A broken stream, as its reader reports it.
  if (!isSluiceError(error, 'input_unreadable') || error.cause === undefined) return undefined;
  return new TransientError('the connection broke', { cause: error.cause });
}

function readFirst(first: Uint8Array, then: ByteReader | undefined): ByteReader {
  let piece: Uint8Array | undefined = first;
  return {
    async read() {
      const now = piece;
      piece = undefined;
      return now ?? then?.read();
    },
    close: async () => then?.close(),
  };
}
