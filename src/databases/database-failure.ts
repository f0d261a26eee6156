/**
 * What a driver's error told, without what it may hold: its message and its details quote cells, its
 * properties hold the connection and with it the password.
 */
export interface DatabaseFailure {
  /** The second half of a message. */
  readonly words: string;
  /** The database's or the system's own code. */
  readonly code: string | undefined;
  /** Whether the query, a table or a column is wrong, and not the connection or the content. */
  readonly isMisuse: boolean;
}

/** A bare error to stand as the cause, so that the code is seen and nothing else. */
export function plainFailure({ words, code }: DatabaseFailure): Error {
  return Object.assign(new Error(words), code !== undefined && { code });
}
