import { checkOptions, type OptionShape } from '../platform/check-options.js';
import { amount, called, duration, signal, withMethods } from '../platform/option-kinds.js';
import type { UploadFile } from './http/multipart.js';

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, or the reading of what it returned, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Longest time of the call in milliseconds: its waits for a turn, its repetitions and its answer. It
   * fails at once where the service has asked for a longer pause.
   *
   * @default none: as long as the client's own limits let it be tried
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often the request is sent again at most. 0: the first answer counts, also one that asks to wait.
   *
   * @default as often as it may help, for the client's `giveUpAfterMs`
   */
  readonly maxRetries?: number | undefined;
  /**
   * How long the answer of what was sent is waited for all the same, in milliseconds: so that it is known
   * what became of it.
   *
   * @default 0
   */
  readonly graceMs?: number | undefined;
  /**
   * The lines that the call is about, as an upload's file: should the service repeat one of them in its
   * words, it is taken out of them.
   *
   * @default the file or the address that the call itself sends
   */
  readonly sent?: Pick<UploadFile, 'open'> | undefined;
  /** Called with what an error's `sent` would be, were the call to end now. @internal */
  readonly onSent?: ((sent: 'no' | 'unknown') => void) | undefined;
}

/** What each of them must be. */
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
