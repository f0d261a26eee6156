import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askAboutColumns } from '../../src/cli/launch-options.js';
import { Client, run, rowsSink, rowsSource, streamRun } from '../../src/index.js';
import type { Reporter } from '../../src/cli/reporter.js';
import { personAtTerminal } from '../cli/person-at-terminal.js';
import { withFolder, withService } from '../service/with-service.js';

const rows = [{ email: 'Anna' }, { email: 'Bert' }, { email: 'good1@sluice.test' }];

describe('onDoubtfulColumns', () => {
  it.each(['durable', 'streaming'])('stops a %s run before anything is sent', async (kind) => {
    const { service } = await withService();
    const client = new Client({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const seen: unknown[] = [];
    const stateDir = join(await withFolder(), 'state');
    const options = {
      source: rowsSource(rows),
      sink: rowsSink(() => undefined),
      client,
      email: ['email'],
      country: 'US',
      onDoubtfulColumns: (columns: readonly unknown[]) => {
        seen.push(...columns);
        return false;
      },
    };
    const stopped = kind === 'durable' ? run({ ...options, stateDir }) : streamRun(options);
    await expect(stopped).rejects.toMatchObject({ name: 'ConfigurationError' });
    expect(seen).toEqual([{ name: 'email', type: 'email', filled: 3, malformed: 2, others: 0 }]);
    expect(await client.listBatches()).toEqual([]);
    // Nothing is left that a run could go on with.
    await expect(access(stateDir)).rejects.toThrow();
  });

  it('is answered by whoever is at the terminal', async () => {
    const reporter = { doubtful: () => undefined } as unknown as Reporter;
    const signal = new AbortController().signal;
    const column = { name: 'email', type: 'email', filled: 3, malformed: 2, others: 0 } as const;
    const options = (given: readonly string[]) => ({ has: (name: string) => given.includes(name) });
    for (const [answer, given, goesOn] of [
      ['y', [], true],
      ['n', [], false],
      ['', [], false],
      ['n', ['yes'], true],
    ] as const) {
      const person = personAtTerminal(answer);
      const ask = askAboutColumns(options(given) as never, person, { reporter, signal });
      expect(await ask([column])).toBe(goesOn);
      expect(person.heard().includes('Verify them all the same?')).toBe(given.length === 0);
    }
  });
});
