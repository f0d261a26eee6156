import { expect, it } from 'vitest';
import { unlessStopped } from '../../src/cli/connect.js';

it('waits for no answer of a store once the process is to stop', async () => {
  const stop = new AbortController();
  const never = new Promise<never>(() => undefined);
  const stopped = unlessStopped(never, stop.signal);
  const reason = new Error('stopped by SIGINT');
  stop.abort(reason);
  await expect(stopped).rejects.toBe(reason);
  await expect(unlessStopped(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  const broken = Promise.reject(new Error('out of reach'));
  await expect(unlessStopped(broken, new AbortController().signal)).rejects.toThrow('out of reach');
});
