import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import { InputError } from '../../platform/errors/errors.js';
import { isSluiceError } from '../../platform/errors/is-sluice-error.js';
import { Alarm, type Clock } from '../../platform/waiting/clock.js';
import { onAbort, orAborted } from '../../platform/waiting/promises.js';
import type { HeaderReader } from '../rate/rate-headers.js';
import type { WireRequest } from './request.js';
import { Watchdog } from './timeouts.js';
import { toTimeoutError, toTransportError } from './transport-error.js';

interface ExchangeOptions {
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** The clock's, where an answer takes real time. */
  readonly hold?: Clock['hold'];
  readonly signal?: AbortSignal | undefined;
  /** How long after the signal an answer is waited for, once the request is sent. @default 0 */
  readonly graceMs?: number | undefined;
  readonly redact: (text: string) => string;
  /** Called when the request is handed to a connection: from then on the service may have it. */
  readonly onStart: () => void;
  /** Called when the service has taken another piece of the body. */
  readonly onSent: () => void;
}

/** The beginning of an answer; its body must be read to the end or destroyed. */
export interface WireAnswer {
  readonly status: number;
  readonly header: HeaderReader;
  readonly body: Readable;
}

export async function exchange(
  request: WireRequest,
  options: ExchangeOptions,
): Promise<WireAnswer> {
  const attempt = new Attempt(request, options);
  return attempt.run();
}

class Attempt {
  readonly #request: WireRequest;
  readonly #options: ExchangeOptions;
  /** Ends the attempt, with the error it ends with as its reason. */
  readonly #end = new AbortController();
  readonly #watchdog: Watchdog;
  readonly #forgetSignal: () => void;
  #isStarted = false;
  /** What went wrong on the caller's side while the body was made. */
  #bodyError: { readonly error: unknown } | undefined;
  #body: AnswerBody | undefined;

  constructor(request: WireRequest, options: ExchangeOptions) {
    this.#request = request;
    this.#options = options;
    options.signal?.throwIfAborted();
    this.#watchdog = new Watchdog(options.clock, {
      totalMs: options.totalTimeoutMs,
      hold: options.hold,
      onTimeout: (awaited, limitMs) => this.#stop(toTimeoutError(awaited, limitMs, this.#failed())),
    });
    const grace = new Alarm(options.clock, () => this.#stop(options.signal?.reason));
    const forget = onAbort(options.signal, (reason) => {
      const { clock, graceMs = 0 } = options;
      if (this.#isStarted && graceMs > 0) grace.set(clock.now() + graceMs);
      else this.#stop(reason);
    });
    this.#forgetSignal = () => {
      forget();
      grace.stop();
    };
  }

  async run(): Promise<WireAnswer> {
    const { timeoutMs, connectTimeoutMs } = this.#options;
    this.#watchdog.expect('connection', connectTimeoutMs);
    try {
      // undici only notices an abort once it has a connection; nobody should wait for that.
      const { statusCode, headers, body } = await orAborted(this.#send(), this.#end.signal);
      this.#body = new AnswerBody(body, {
        watchdog: this.#watchdog,
        timeoutMs,
        toError: (error) => this.#toError(error),
        onClose: this.#forgetSignal,
      });
      const header: HeaderReader = (name) => {
        const value = headers[name];
        return Array.isArray(value) ? value[0] : value;
      };
      return { status: statusCode, header, body: this.#body };
    } catch (error) {
      this.#watchdog.stop();
      this.#forgetSignal();
      throw this.#toError(error);
    }
  }

  async #send(): Promise<Dispatcher.ResponseData> {
    const { method, origin, path, headers, body } = this.#request;
    const { dispatcher, timeoutMs } = this.#options;
    const started = watchStart(dispatcher, () => {
      // One that was given up before is handed over all the same, and not written.
      if (this.#end.signal.aborted) return;
      this.#isStarted = true;
      this.#options.onStart();
      this.#watchdog.expect(typeof body === 'function' ? 'sending' : 'answer', timeoutMs);
    });
    return request.call(started, {
      origin,
      path,
      method,
      headers,
      // undici takes any iterable of bytes; its types only name streams.
      body:
        typeof body === 'function' ? (this.#chunks(body) as unknown as Readable) : (body ?? null),
      signal: this.#end.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * The body as it goes out: while the next chunk is being made the service is not to blame for the
   * silence, and when one is asked for, the one before has been taken.
   */
  async *#chunks(
    open: () => AsyncGenerator<Uint8Array, void, undefined>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { timeoutMs } = this.#options;
    const chunks = open();
    try {
      while (!this.#end.signal.aborted) {
        if (this.#body === undefined) this.#watchdog.suspend();
        const next = await this.#nextChunk(chunks);
        if (next.done === true) break;
        this.#expectTaking('sending', timeoutMs);
        yield next.value;
        this.#options.onSent();
      }
      this.#expectTaking('answer', timeoutMs);
    } finally {
      await chunks.return();
    }
  }

  /** An answer may have come before all was sent: then only the answer is waited for. */
  #expectTaking(awaited: 'sending' | 'answer', timeoutMs: number): void {
    if (this.#body === undefined) this.#watchdog.expect(awaited, timeoutMs);
  }

  async #nextChunk(
    chunks: AsyncGenerator<Uint8Array, void, undefined>,
  ): Promise<IteratorResult<Uint8Array, void>> {
    try {
      return await chunks.next();
    } catch (error) {
      this.#bodyError = { error };
      throw error;
    }
  }

  #stop(reason: unknown): void {
    this.#end.abort(reason);
    // What has been received and not yet read is dropped too.
    this.#body?.destroy(reason as Error);
  }

  #toError(error: unknown): unknown {
    if (this.#end.signal.aborted) return this.#end.signal.reason;
    if (this.#bodyError) return toBodyError(this.#bodyError.error, this.#request.subject);
    if (isSluiceError(error)) return error;
    return toTransportError(error, this.#failed());
  }

  #failed(): Parameters<typeof toTransportError>[1] {
    const { subject, operation } = this.#request;
    return { subject, operation, isStarted: this.#isStarted, redact: this.#options.redact };
  }
}

function toBodyError(error: unknown, subject: string): unknown {
  if (isSluiceError(error)) return error;
  return new InputError(`${subject}: the file could not be read`, {
    code: 'input_unreadable',
    cause: error,
  });
}

/**
 * A view of a dispatcher that reports when a request is handed to a connection. Until then nothing of it
 * can have reached the service; from then on that is not known, whatever error follows.
 */
function watchStart(dispatcher: Dispatcher, onStart: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    return dispatch(options, {
      onRequestStart: (controller, context: unknown) => {
        onStart();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
  });
}

/** Less than this within one longest silence is as good as silence. */
const floorBytes = 1024;

const highWaterMark = 64 * 1024;

interface AnswerBodyOptions {
  readonly watchdog: Watchdog;
  readonly timeoutMs: number;
  readonly toError: (error: unknown) => unknown;
  readonly onClose: () => void;
}

/**
 * The body of an answer. While its consumer wants bytes the service must send them, above a floor; a
 * consumer that takes its time is waited for without limit. Destroying it closes the connection.
 */
class AnswerBody extends Readable {
  readonly #source: Readable;
  readonly #options: AnswerBodyOptions;
  #bytes = 0;

  constructor(source: Readable, options: AnswerBodyOptions) {
    super({ highWaterMark });
    this.#source = source;
    this.#options = options;
    options.watchdog.suspend();
    // A connection may break before anyone has begun to read. Later readers still get the error; but
    // nobody listening yet must not end the process.
    this.on('error', () => undefined);
    source.pause();
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.on('end', () => {
      options.watchdog.stop();
      this.push(null);
    });
    source.on('error', (error) => this.destroy(options.toError(error) as Error));
    source.on('close', () => {
      if (!source.readableEnded) this.destroy(options.toError(new Error('closed')) as Error);
    });
  }

  override _read(): void {
    if (!this.#source.isPaused()) return;
    this.#expectBytes();
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { watchdog, onClose } = this.#options;
    watchdog.stop();
    this.#source.destroy();
    onClose();
    done(error);
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes >= floorBytes) this.#expectBytes();
    if (this.push(chunk)) return;
    this.#source.pause();
    this.#options.watchdog.suspend();
  }

  #expectBytes(): void {
    this.#bytes = 0;
    this.#options.watchdog.expect('body', this.#options.timeoutMs);
  }
}
