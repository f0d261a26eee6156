import { describeError } from '../messages/describe-error.js';
import { exitCodeOf } from '../exit-code.js';

/** One thing that a run needs, and whether it is there. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'failed' | 'note';
  readonly text: string;
  /** What a run would end with. */
  readonly exitCode: number;
  /** Whether it is a list of words that goes over several lines. */
  readonly isList?: boolean;
}

export function passed(check: string, text: string): Check {
  return { check, state: 'ok', text, exitCode: 0 };
}

/** What is worth knowing, and keeps no run from its end. */
export function noted(check: string, text: string): Check {
  return { check, state: 'note', text, exitCode: 0 };
}

/** @param exitCode what a run would end with. @default that of the error */
export function failed(check: string, error: unknown, exitCode = exitCodeOf(error)): Check {
  const text = typeof error === 'string' ? error : describeError(error).replace(/^sluice: /, '');
  return { check, state: 'failed', text, exitCode };
}
