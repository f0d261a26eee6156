/** Ends a request with an error status (spec 7) and a JSON body with a `message`. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: {
      readonly body?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'HttpProblem';
    this.status = status;
    this.body = { message, ...more.body };
    this.headers = more.headers ?? {};
  }
}

/** 400 Bad Request with a `message` (spec 7): not possible in the current state. */
export function badRequest(message: string): HttpProblem {
  return new HttpProblem(400, message);
}

/** 404 Not Found (spec 7). */
export function notFound(message: string): HttpProblem {
  return new HttpProblem(404, message);
}
const transient: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENOSPC',
]);

/**
 * Whether a system error means a temporary shortage: open files, memory, disk space. The failed call may be
 * repeated later.
 */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && transient.has(error.code);
}

/** The wait before the n-th retry, from 1: doubling up to half a minute. */
export function transientWaitMs(repetition: number): number {
  return Math.min(30_000, 125 * 2 ** repetition);
}
