import { checkOptions, type OptionShape } from '../platform/check-options.js';
import { amount, called, duration, signal, withMethods } from '../platform/option-kinds.js';
import type { UploadFile } from './http/multipart.js';

export interface CallOptions {
  /** Ends the call, or the reading of what it returned, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Longest time of the call in milliseconds, including waits and retries. It fails at once where the service
   * has asked for a longer pause.
   *
   * @default none: the client's own limits decide
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Most retries. 0: the first answer counts, also one that asks to wait.
   *
   * @default as often as useful, for the client's `giveUpAfterMs`
   */
  readonly maxRetries?: number | undefined;
  /**
   * How long after `signal` the answer of a sent request is still awaited, in milliseconds, so that its
   * result is known.
   *
   * @default 0
   */
  readonly graceMs?: number | undefined;
  /**
   * The lines that the call is about, as an upload's file: where the service's messages repeat one of them,
   * it is redacted.
   *
   * @default what the call itself sends
   */
  readonly sent?: Pick<UploadFile, 'open'> | undefined;
  /** Called with the `sent` that an error would have now. @internal */
  readonly onSent?: ((sent: 'no' | 'unknown') => void) | undefined;
}

export const callShape: OptionShape<CallOptions> = {
  signal,
  timeoutMs: duration,
  maxRetries: {
    what: 'a whole number of 0 or more',
    isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  graceMs: amount,
  sent: withMethods('a file to upload', 'open'),
  onSent: called,
};

/** @throws ConfigurationError `invalid_option` */
export function checkCallOptions(options: CallOptions): void {
  checkOptions(options, callShape);
}
