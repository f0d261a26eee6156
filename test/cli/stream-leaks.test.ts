import { expect, test } from 'vitest';
import { runScript } from './run-script.js';

/** Ways for a stream to end, and what its pipeline ends with. */
const endings = {
  success: 'success',
  'source error': 'the source broke',
  'sink error': 'the sink broke',
  abort: 'the abort',
  destroy: 'Premature close',
  break: 'success',
} as const;

for (const [scenario, ended] of Object.entries(endings)) {
  test(`after ${scenario}, no socket, timer or listener stays, and the process ends by itself`, async () => {
    const { code, stdout, stderr } = await runScript(new URL('leak-scenario.ts', import.meta.url), [
      scenario,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const told = JSON.parse(stdout) as { before: string[]; after: string[] };
    expect(told).toMatchObject({ ended, closed: true, listeners: 0 });
    expect(told.after).toEqual(told.before);
  });
}

test('after an abort, the process ends by itself even when the client is forgotten', async () => {
  const { code, stdout, stderr } = await runScript(new URL('leak-scenario.ts', import.meta.url), [
    'abandoned client',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ ended: 'the abort', closed: true, listeners: 0 });
});
