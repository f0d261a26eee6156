import { describe, expect, it } from 'vitest';
import { watchSink } from '../../src/report/run-end.js';
import type { Sink } from '../../src/lists/rows/sink.js';

/** A sink with a private field: a copy of its members would lose it. */
class KnowingSink implements Sink {
  readonly name = 'a table';
  readonly #written = 'run-1';

  async check(): Promise<void> {
    // Nothing can be wrong with it.
  }

  async hasWritten(runId: string): Promise<boolean> {
    return runId === this.#written;
  }

  async open(): Promise<never> {
    throw new Error('not opened here');
  }
}

describe('a watched sink', () => {
  it('knows what the sink knows of its output', async () => {
    const watched = watchSink(new KnowingSink(), () => undefined);
    expect(await watched.hasWritten?.('run-1')).toBe(true);
    expect(await watched.hasWritten?.('run-2')).toBe(false);
  });
});
