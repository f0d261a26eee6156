import { expect, it } from 'vitest';
import { goodNames, Nights } from '../../history/nightly.js';

it.each(['uploaded', 'parsing', 'ready', 'verifying', 'exported'] as const)(
  'keeps the names that its batches began with, if another prefix is given after a stop at %s',
  async (stage) => {
    const nights = await Nights.begin();
    const stop = new AbortController();
    const stopped = nights.runWith(goodNames(9), {
      batchName: 'monday',
      signal: stop.signal,
      onProgress: (progress) => {
        if (progress.stage === 'batch' && progress.state.stage === stage) stop.abort();
      },
    });
    await expect(stopped).rejects.toThrow();
    const { batches } = await nights.runWith(goodNames(9), { batchName: 'tuesday' });
    const names = batches.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('monday-'))).toHaveLength(3);
    const there: string[] = [];
    for await (const { name } of nights.client.batches()) there.push(name);
    expect(there.toSorted()).toEqual(names.toSorted());
    expect((await nights.charges()).toSorted()).toEqual(goodNames(9).toSorted());
  },
);
