import type * as callerErrors from './errors.js';
import type * as serviceErrors from './service-errors.js';
import { brand, type SluiceError, type ErrorCodes, type SluiceErrorCode } from './sluice-error.js';

type Family = typeof callerErrors & typeof serviceErrors;

type ErrorWith<Code extends SluiceErrorCode> = {
  [Name in keyof ErrorCodes]: Code extends ErrorCodes[Name]
    ? InstanceType<Family[Name]> & { readonly code: Code }
    : never;
}[keyof ErrorCodes];

type AnyError = InstanceType<Family[keyof ErrorCodes]>;

/**
 * Whether an error is Sluice's, optionally with this code: it then has the fields of its class, such as
 * `status` of an ApiError. Without a code, a `switch` over `error.code` narrows the class, too. Errors of
 * another copy of this package count.
 *
 * @example
 * ```ts
 * const stranger = new Client({ baseUrl: service.baseUrl, apiKey: 'no-such-key' });
 * const error: unknown = await stranger.credits().catch((reason: unknown) => reason);
 * if (isSluiceError(error, 'unauthorized')) console.log(error.status); // 401
 * await stranger.close();
 * ```
 */
export function isSluiceError(error: unknown): error is AnyError;
export function isSluiceError<Code extends SluiceErrorCode>(
  error: unknown,
  code: Code | undefined,
): error is ErrorWith<Code>;
export function isSluiceError(error: unknown, code?: SluiceErrorCode): boolean {
  if (!(error instanceof Error) || !(brand in error)) return false;
  return code === undefined || (error as SluiceError).code === code;
}
