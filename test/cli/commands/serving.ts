import { once } from 'node:events';
import { startSluice, type Ended, type Running } from '../harness/run-sluice.js';

export interface Serving extends Running {
  readonly baseUrl: string;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** Starts a service as a process on a free port, and waits for its first line. */
export async function serve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const running = startSluice(['serve', '--port', '0', ...args], { env });
  const over = running.ended.then(({ code, stderr }) => {
    throw new Error(`the service ended with ${code} before it was ready: ${stderr}`);
  });
  // When it ends later, that is no trouble of its start.
  over.catch(() => undefined);
  let out = '';
  while (!out.includes('\n')) {
    const [text] = (await Promise.race([once(running.child.stdout, 'data'), over])) as [Buffer];
    out += text.toString();
  }
  return {
    ...running,
    baseUrl: out.trimEnd(),
    stop: (signal = 'SIGTERM') => {
      running.child.kill(signal);
      return running.ended;
    },
  };
}
