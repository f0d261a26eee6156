import { pipeline, type Readable, Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { WireAnswer } from './exchange.js';
import type { WireRequest } from './request.js';
import { invalidAnswer } from './response.js';

type Decoder = zlib.Gunzip | zlib.BrotliDecompress;

/** Of Node 22.15 and newer. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Decoder };

/** Gzip and Brotli are asked for. An answer that comes in another coding all the same may be paid for. */
const decoders: Readonly<Record<string, (() => Decoder) | undefined>> = {
  gzip: zlib.createGunzip,
  // The older name of the same.
  'x-gzip': zlib.createGunzip,
  br: zlib.createBrotliDecompress,
  deflate: zlib.createInflate,
  zstd: createZstdDecompress,
};

/** An export unpacks to 40 to 120 times its bytes, a bomb to thousands of times. */
const mostRatio = 1000;

/** The answer with its body unpacked, if its packing is known. @param freeBytes may unpack from however few */
export function unpacked(request: WireRequest, answer: WireAnswer, freeBytes: number): WireAnswer {
  const coding = answer.header('content-encoding')?.trim().toLowerCase() ?? '';
  const create = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!create) return answer;
  return {
    status: answer.status,
    header: (name) => (name === 'content-encoding' ? undefined : answer.header(name)),
    body: new UnpackedBody(answer.body, create(), {
      request,
      status: answer.status,
      coding,
      freeBytes,
    }),
  };
}

interface UnpackedBodyOptions {
  readonly request: WireRequest;
  readonly status: number;
  readonly coding: string;
  readonly freeBytes: number;
}

/** Fails as the packed body does, or with ContractError when that is broken or unpacks to far too much. */
class UnpackedBody extends Transform {
  readonly #decoder: Decoder;
  readonly #options: UnpackedBodyOptions;
  #bytes = 0;
  #isBroken = false;

  constructor(packed: Readable, decoder: Decoder, options: UnpackedBodyOptions) {
    super();
    this.#decoder = decoder;
    this.#options = options;
    // Readers get the error; without a listener it must not end the process.
    this.on('error', () => undefined);
    const onBroken = (): void => {
      this.#isBroken = true;
    };
    decoder.once('error', onBroken);
    packed.once('error', () => decoder.removeListener('error', onBroken));
    pipeline(packed, decoder, this, () => undefined);
  }

  override _transform(
    chunk: Buffer,
    _encoding: string,
    done: (error: Error | null, chunk?: Buffer) => void,
  ): void {
    this.#bytes += chunk.length;
    const { freeBytes } = this.#options;
    const isTooMuch =
      this.#bytes > freeBytes && this.#bytes > this.#decoder.bytesWritten * mostRatio;
    if (isTooMuch) done(this.#invalid(`more than ${mostRatio} times as long as what was sent`));
    else done(null, chunk);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(this.#isBroken && error ? this.#invalid('broken, or cut short') : error);
  }

  #invalid(what: string): Error {
    const { request, coding, status } = this.#options;
    return invalidAnswer(request, `packed with ${coding}, and ${what}`, { status });
  }
}
