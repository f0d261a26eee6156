import { Readable } from 'node:stream';
import type { Watchdog } from './timeouts.js';

/** Less than this within one longest silence is as good as silence. */
const floorBytes = 1024;

const highWaterMark = 64 * 1024;

export interface AnswerBodyOptions {
  readonly watchdog: Watchdog;
  /** Longest silence, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes what broke the connection an error of ours. */
  readonly toError: (error: unknown) => unknown;
  /** Called once, when nothing of the request is left. */
  readonly onClose: () => void;
}

/**
 * The body of an answer. While its consumer wants bytes the service must send them, above a floor; a
 * consumer that takes its time is waited for without limit. Destroying it closes the connection.
 */
export class AnswerBody extends Readable {
  readonly #source: Readable;
  readonly #options: AnswerBodyOptions;
  #bytes = 0;

  constructor(source: Readable, options: AnswerBodyOptions) {
    super({ highWaterMark });
    this.#source = source;
    this.#options = options;
    options.watchdog.suspend();
    // A connection may break before anyone has begun to read. Whoever reads then is still told; but
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
