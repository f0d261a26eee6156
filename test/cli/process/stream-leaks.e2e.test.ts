import { expect, test } from 'vitest';
import { runScript } from '../harness/run-script.js';

/** Ways for a stream to end, and what its pipeline ends with. */
const endings = {
  success: 'success',
  'source error': 'the source broke',
  'sink error': 'the sink broke',
  abort: 'the abort',
  destroy: 'Premature close',
  break: 'success',
  // Its connections are nobody's: only that the process ends says that they hold nothing.
  'abandoned client': 'the abort',
} as const;

test('no socket, timer or listener stays behind a stream, and the process ends by itself', async () => {
  const { code, stdout, stderr } = await runScript(
    new URL('leak-scenario.ts', import.meta.url),
    Object.keys(endings),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const reported = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly before: string[]; readonly after: string[] });
  for (const [at, [scenario, ended]] of Object.entries(endings).entries()) {
    expect(reported[at], scenario).toMatchObject({ ended, closed: true, listeners: 0 });
    expect(reported[at]?.after, scenario).toEqual(reported[at]?.before);
  }
});
